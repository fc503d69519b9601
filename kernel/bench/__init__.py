"""Load on a kernel, or on any MCP server: what it carries, how long that takes, and where its lanes are full."""
