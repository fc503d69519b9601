"""A peer: one trivial tool on the official Python SDK, stateless, JSON answers, with uvloop and httptools if they are there.

Run by ``python -m bench`` in an environment of its own: ``python_sdk.py PORT``.
"""

import logging
import sys

import uvicorn
from mcp.server import MCPServer

server = MCPServer("peer")


@server.tool()
def get_version() -> dict[str, str]:
    """The version."""
    return {"version": "3.7.3"}


if __name__ == "__main__":
    # A line for each request would be measured too.
    logging.disable(logging.INFO)
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
