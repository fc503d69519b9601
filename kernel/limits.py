"""Bounds that several packages share, with their units (decision 33). A leaf."""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

# One request to the plugin's /mcp: a 32 MiB template must fit.
PLUGIN_MCP_BODY_BYTES_MAX: Final = 36 * MIB
# One control request (/tasks, /transfer/lookup, /emulator/*).
CONTROL_BODY_BYTES_MAX: Final = 64 * 1024
# One JSON body of /api/*.
API_JSON_BODY_BYTES_MAX: Final = 64 * MIB
# One multipart upload of /api/*.
API_UPLOAD_BODY_BYTES_MAX: Final = 256 * MIB
