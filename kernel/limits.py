"""Bounds that several packages share, with their units (decision 33). A leaf."""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

# Connections at once, unless ``--connections-max`` says otherwise; one too many is answered 503 and closed.
CONNECTIONS_MAX: Final = 1024
# The greatest value that ``--connections-max`` takes. An idle connection holds about 6 KiB.
CONNECTIONS_ALLOWED_MAX: Final = 65_536
# Open files beside the connections: the workspace's, the index's, the ledger's.
OTHER_FILES_MAX: Final = 256

# One request to the plugin's /mcp: a 32 MiB template must fit.
PLUGIN_MCP_BODY_BYTES_MAX: Final = 36 * MIB
# One control request (/tasks, /transfer/lookup, /emulator/*).
CONTROL_BODY_BYTES_MAX: Final = 64 * 1024
# One JSON body of /api/*.
API_JSON_BODY_BYTES_MAX: Final = 64 * MIB
# One multipart upload of /api/*.
API_UPLOAD_BODY_BYTES_MAX: Final = 256 * MIB
