"""Lanes, tickets and a commit boundary for any Trio program. Knows nothing of HTTP, MCP or notes."""
