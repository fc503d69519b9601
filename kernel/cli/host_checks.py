"""What ``doctor --host-url`` looks at: a SiYuan elsewhere, as ``serve`` in front of it would use it. Nothing is written."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.cli.checks import (
    Finding,
    Verdict,
    coordinator_finding,
    ledger_finding,
    permissions_finding,
    settings_finding,
)
from kernel.cli.place import HOST_TOKEN_VARIABLE
from kernel.extension.bridge import EndpointLost
from kernel.extension.catalog import VERSION_MIN, version_of
from kernel.host.base import Host, HostError, HostHttpError
from kernel.safety.folder import storage_folder
from kernel.safety.lock import COORDINATOR_LOCK
from kernel.tools.configuration import HTTP_FILE, PERMISSIONS_FILE, PLUGIN_FOLDER, TOOLS_FILE

if TYPE_CHECKING:
    from kernel.extension.bridge import OfficialEndpoint

TOKEN_ADVICE: Final = f"pass its API token (SiYuan: Settings - About) as {HOST_TOKEN_VARIABLE}"
# All questions together; a host that takes longer over so few is no use to anybody.
HOST_CHECKS_S_MAX: Final = 60.0


def host_findings(host_url: str, token: str, workspace: Path, state_dir: Path | None) -> list[Finding]:
    """All checks, in the order in which one thing needs another."""
    from kernel.extension.http_endpoint import HttpEndpoint
    from kernel.host.remote import RemoteHost

    async def look() -> list[Finding]:
        host = RemoteHost(host_url, token, retry_waits_s=())
        endpoint = HttpEndpoint(host_url, token)
        found: list[Finding] = []
        with trio.move_on_after(HOST_CHECKS_S_MAX) as scope:
            try:
                found.extend([one async for one in of_host(host_url, host, endpoint)])
            finally:
                await host.aclose()
                await endpoint.aclose()
        if scope.cancelled_caught:
            words = f"{host_url} has not answered everything in {HOST_CHECKS_S_MAX:g} s"
            found.append(Finding("host", Verdict.FAIL, words, "look whether it is busy or hangs"))
        return found

    storage = storage_folder(workspace, host_url, state_dir)
    options = f" --host-url {shlex.quote(host_url)}"
    if state_dir is not None:
        options += f" --state-dir {shlex.quote(str(state_dir))}"
    own = [coordinator_finding(storage / COORDINATOR_LOCK, options), ledger_finding(storage)]
    return [*trio.run(look), *own]


async def of_host(host_url: str, host: Host, endpoint: OfficialEndpoint) -> AsyncIterator[Finding]:
    """What the host itself shows; nothing more after the first thing that the rest needs and that fails."""
    try:
        version = str(await host.call("/api/system/version"))
    except HostError as error:
        advice = "start SiYuan there, or correct the address"
        yield Finding("host", Verdict.FAIL, f"{host_url} is no SiYuan that answers: {error.message}", advice)
        return
    yield Finding("host", Verdict.OK, f"SiYuan {version} at {host_url}")
    try:
        answer: Any = await host.call("/api/notebook/lsNotebooks")
        notebooks = [str(box["id"]) for box in answer["notebooks"]]
    except HostHttpError as error:
        advice = TOKEN_ADVICE if error.status in (401, 403) else "look at SiYuan's own log"
        yield Finding("token", Verdict.FAIL, f"the notebooks are not shown: {error.message}", advice)
        return
    except (HostError, KeyError, TypeError) as error:
        advice = "look at SiYuan's own log, and at its version"
        yield Finding("token", Verdict.FAIL, f"the notebooks are not shown: {error}", advice)
        return
    yield Finding("token", Verdict.OK, f"{len(notebooks)} notebooks are shown")
    try:
        tools, http, permissions = [await host.read_file(path) for path in (TOOLS_FILE, HTTP_FILE, PERMISSIONS_FILE)]
    except HostError as error:
        words = f"the plugin's settings cannot be read: {error.message}"
        yield Finding(
            "settings", Verdict.FAIL, words, "every call is refused until then: the token must be an administrator's"
        )
        return
    yield settings_finding(PurePosixPath(PLUGIN_FOLDER), tools, http)
    yield permissions_finding(PurePosixPath(PERMISSIONS_FILE), permissions, notebooks)
    yield await _official(version, endpoint)


async def _official(version: str, endpoint: OfficialEndpoint) -> Finding:
    """Whether foreign tools can come from there."""
    if version_of(version) < VERSION_MIN:
        least = ".".join(map(str, VERSION_MIN))
        words = f"SiYuan {version} has no official /mcp: the extension tool finds nothing"
        return Finding("extension", Verdict.WARN, words, f"{least} or newer has it")
    try:
        tools = await endpoint.list_tools()
    except EndpointLost as error:
        words = f"the official /mcp gives no tools: {error}"
        return Finding(
            "extension", Verdict.WARN, words, "switch it on in SiYuan's settings, if foreign tools are wanted"
        )
    return Finding("extension", Verdict.OK, f"the official /mcp has {len(tools)} tools")
