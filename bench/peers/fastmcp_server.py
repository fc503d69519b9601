"""A peer: one trivial tool on FastMCP, stateless, JSON answers. In an environment of its own: ``fastmcp_server.py PORT``."""

import sys

from fastmcp import FastMCP

server = FastMCP("peer")


@server.tool
def get_version() -> dict[str, str]:
    """The version."""
    return {"version": "3.7.3"}


if __name__ == "__main__":
    options = {"log_level": "error", "access_log": False}
    server.run(
        transport="http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        path="/mcp",
        show_banner=False,
        stateless_http=True,
        json_response=True,
        uvicorn_config=options,
    )
