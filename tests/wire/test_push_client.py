"""/ws with a real WebSocket client: a window hears of what a call did, and its files are its owner's."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import httpx
import pytest
import trio
from trio_websocket import open_websocket_url

from tests.support.process import running_kernel

pytestmark = pytest.mark.wire


async def test_a_window_hears_of_a_new_notebook(tmp_path: Path) -> None:
    """The frame comes after the answer was made durable, and names the notebook."""
    async with running_kernel(tmp_path / "workspace") as kernel, httpx.AsyncClient(timeout=90) as http:
        address = kernel.url.replace("http", "ws", 1) + "/ws?app=t&id=t&type=main"
        with trio.fail_after(90):
            async with open_websocket_url(address) as window:
                await http.post(f"{kernel.url}/api/notebook/createNotebook", json={"name": "Box"})
                while True:
                    frame = json.loads(await window.get_message())
                    if frame["cmd"] == "createnotebook":
                        break
        assert frame["data"]["box"]["name"] == "Box"


async def test_the_token_file_is_private(tmp_path: Path) -> None:
    """conf.json holds the API token: readable by its owner only (decision 48)."""
    async with running_kernel(tmp_path / "workspace") as kernel:
        mode = stat.S_IMODE((kernel.workspace / "conf" / "conf.json").stat().st_mode)
        assert mode == 0o600
        assert len(kernel.token) >= 16
