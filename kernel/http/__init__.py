"""The HTTP/1.1 server: h11 reads, we write, one task per connection. Knows nothing of notes or MCP."""
