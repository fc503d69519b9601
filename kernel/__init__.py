"""The Sisyphus kernel: a small SiYuan kernel that carries the Sisyphus plugin's MCP endpoint."""

from typing import Final

__version__: Final = "0.1.0"
