"""The kernel's static roots: each group has its own way to refuse, to list and to miss (kernel-facts, HTTP)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode

import trio

from kernel.json_text import read_json
from kernel.siyuan.api_calls import encoded_json
from kernel.siyuan.auth import Grant, cookie_value
from kernel.siyuan.distribution import APPEARANCE_DIR, FALLBACK_LANGUAGE, filled_language, is_partial_language
from kernel.siyuan.file_answers import (
    FILE_NOT_FOUND,
    INVALID_PATH,
    FileContent,
    file_answer,
    listing,
    local_redirect,
)
from kernel.siyuan.file_roots import DiskRoot, Root, WorkspaceRoot
from kernel.siyuan.file_streams import large_file
from kernel.siyuan.limits import WALKED_PER_TURN_MAX
from kernel.siyuan.media_types import attachment, type_by_name
from kernel.siyuan.signin_page import SIGNIN_PAGE
from kernel.siyuan.surface import GET, GET_HEAD, SurfaceHandler, SurfaceRoute, moved
from kernel.siyuan.svg import SvgInvalid, sanitized
from kernel.wire import JSON_UTF8, Answer, Exchange, Request, Response

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

_MISSING: Final = Response(404)
_UNAUTHORIZED: Final = Response(401)
_FORBIDDEN: Final = Response(403)
_SVG_POLICY: Final = ("Content-Security-Policy", "script-src 'none'; object-src 'none'; base-uri 'none'")
_NO_SNIFF: Final = ("X-Content-Type-Options", "nosniff")
_EXPORT_TEMP: Final = "/export/temp/"
# Folders of the workspace that are plain file trees: route, folder, guard.
_TREES: Final = (
    ("/widgets", "data/widgets", "auth"),
    ("/plugins", "data/plugins", "auth"),
    ("/emojis", "data/emojis", "auth"),
    ("/templates", "data/templates", "auth"),
    ("/public", "data/public", "public"),
)
_FIXED: Final = {
    "/favicon.ico": "icon.png",
    "/manifest.json": "manifest.webmanifest",
    "/manifest.webmanifest": "manifest.webmanifest",
    "/service-worker.js": "service-worker.js",
}


def routes(kernel: SiyuanKernel) -> Iterator[SurfaceRoute]:
    files = kernel.workspace.files
    for prefix, folder, guard in _TREES:
        yield SurfaceRoute(f"{prefix}/*", GET_HEAD, _tree(prefix, WorkspaceRoot(files, folder)), guard)  # type: ignore[arg-type]
    working_dir = kernel.options.working_dir
    stage = DiskRoot(posixpath.join(working_dir, "stage") if working_dir else "")
    yield SurfaceRoute("/stage/*", GET_HEAD, _tree("/stage", stage), "auth")
    for path, name in _FIXED.items():
        yield SurfaceRoute(path, GET_HEAD, _fixed(stage, name), "public")
    statics = Statics(kernel)
    yield SurfaceRoute("/", GET, statics.front_door, "auth")
    yield SurfaceRoute("/check-auth", GET, statics.signin, "public")
    yield SurfaceRoute("/assets/*", GET, statics.asset, "auth")
    yield SurfaceRoute("/appearance/*", GET, statics.appearance, "auth")
    yield SurfaceRoute("/snippets/*", GET, statics.snippet, "auth")
    yield SurfaceRoute("/export/*", GET, statics.export, "auth")
    yield SurfaceRoute("/history/*", GET, statics.history, "admin")
    yield SurfaceRoute("/repo/diff/*", GET, statics.repo_diff, "admin")


# --- plain trees -----------------------------------------------------------------------------------------------------
def _tree(prefix: str, root: Root) -> SurfaceHandler:
    """A group without listings: what is missing is an empty 404, a folder an empty page with 404."""

    async def serve(exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = cleaned(request.path.removeprefix(prefix))
        found = root.stat(path)
        if found is None:
            return _MISSING
        if request.path.endswith("/index.html"):
            return local_redirect("./", request.query)
        if found.is_dir:
            if not request.path.endswith("/"):
                return local_redirect(f"{posixpath.basename(request.path)}/", request.query)
            index = posixpath.join(path, "index.html")
            if root.stat(index) is None:
                return listing(404, [], found.mtime_s)
            path = index
        elif request.path.endswith("/"):
            return local_redirect(f"../{posixpath.basename(request.path.rstrip('/'))}", request.query)
        return await _file(request, root, path)

    return serve


def _fixed(root: Root, name: str) -> SurfaceHandler:
    async def serve(exchange: Exchange, grant: Grant) -> Answer:
        return await _serve_file(exchange.request, root, name)

    return serve


def cleaned(path: str) -> str:
    """A path below a root with its dots resolved, as if the root were the top of the file system."""
    return posixpath.normpath(f"/{path}").lstrip("/")


def climbs(path: str) -> bool:
    """Whether a part of the path is ``..``; backslashes part it too."""
    return ".." in path.replace("\\", "/").split("/")


def is_below(path: str) -> bool:
    """Whether a relative path with dots names something inside its root; the root itself is not."""
    normal = posixpath.normpath(path.lstrip("/") or ".")
    return normal not in (".", "..") and not normal.startswith("../")


async def _serve_file(request: Request, root: Root, path: str, extra: tuple[tuple[str, str], ...] = ()) -> Answer:
    """One file or listed folder the way the library serves a named file, dots in the URL refused."""
    if climbs(request.path):
        return INVALID_PATH
    if request.path.endswith("/index.html"):
        return local_redirect("./", request.query)
    found = root.stat(path)
    if found is None:
        return FILE_NOT_FOUND
    if found.is_dir:
        if not request.path.endswith("/"):
            return local_redirect(f"{posixpath.basename(request.path)}/", request.query)
        index = posixpath.join(path, "index.html")
        if root.stat(index) is None:
            names = [f"{entry.name}/" if entry.is_dir else entry.name for entry in root.list(path)]
            return listing(200, names, found.mtime_s)
        path = index
    try:
        return await _file(request, root, path, extra)
    except FileNotFoundError:
        return FILE_NOT_FOUND


async def _file(request: Request, root: Root, path: str, extra: tuple[tuple[str, str], ...] = ()) -> Answer:
    """A file, whole or piece by piece. Raises FileNotFoundError."""
    if large := root.large(path):
        return await large_file(request, large, extra)
    return file_answer(request.method, request.headers, await root.read(path), extra)


class Statics:
    """The roots with rules of their own."""

    def __init__(self, kernel: SiyuanKernel) -> None:
        self._kernel = kernel
        self._files = kernel.workspace.files

    # --- pages ---------------------------------------------------------------------------------------------------
    async def front_door(self, exchange: Exchange, grant: Grant) -> Answer:
        """To the web front end that fits the browser; its own choice, kept in a cookie, goes first."""
        request = exchange.request
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        query["r"] = self._kernel.ids.text(7)
        return moved(302, f"{front_end(request)}?{urlencode(sorted(query.items()))}")

    async def signin(self, exchange: Exchange, grant: Grant) -> Answer:
        return Response(200, (("Content-Type", "text/html; charset=utf-8"),), SIGNIN_PAGE)

    # --- assets --------------------------------------------------------------------------------------------------
    async def asset(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = request.path.removeprefix("/assets")
        if path == "/" or ".." in path:
            return _FORBIDDEN
        found = await self._find_asset(posixpath.normpath(f"assets{path}").strip())
        if found is None:
            return _MISSING
        folder, name = found
        root = WorkspaceRoot(self._files, folder)
        wants_download = parse_qs(request.query).get("download", [""])[0].lower() == "true"
        extra = (("Content-Disposition", attachment(posixpath.basename(name))),) if wants_download else ()
        if name.endswith(".svg"):
            file = await root.read(name)
            return _svg_answer(file, extra, allows_scripts=self._allows_svg_scripts)
        return await _serve_file(request, root, name, extra)

    @property
    def _allows_svg_scripts(self) -> bool:
        return bool(self._kernel.workspace.conf.section("editor").get("allowSVGScript"))

    async def _find_asset(self, path: str) -> tuple[str, str] | None:
        """In data/assets, else in an assets folder beside the documents of an open notebook."""
        if WorkspaceRoot(self._files, "data").stat(path) is not None:
            return "data", path
        conf = self._kernel.workspace.conf
        for notebook in self._kernel.workspace.notebooks.listed(int(conf.file_tree["sort"])):
            for looked_at, (below, _) in enumerate(self._files.walk(f"data/{notebook.id}")):
                if below.endswith(f"/{path}"):
                    return below.removesuffix(f"/{path}"), path
                if looked_at % WALKED_PER_TURN_MAX == 0:
                    await trio.lowlevel.checkpoint()
        return None

    # --- other roots -----------------------------------------------------------------------------------------------
    async def appearance(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = request.path.removeprefix("/appearance/")
        if not is_below(path):
            return _UNAUTHORIZED
        root: Root = WorkspaceRoot(self._files, APPEARANCE_DIR)
        if request.path.endswith("/theme.js") and root.stat(cleaned(path)) is None:
            # A theme need not bring a script.
            return Response(200, (("Content-Type", "application/x-javascript"),))
        if is_partial_language(path) and root.stat(FALLBACK_LANGUAGE) is not None:
            return Response(
                200, (("Content-Type", JSON_UTF8),), await encoded_json(await filled_language(root, cleaned(path)))
            )
        return await _serve_file(request, root, cleaned(path))

    async def snippet(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = request.path.removeprefix("/snippets/")
        if path == "conf.json" and not grant.is_admin:
            return _UNAUTHORIZED
        stem, dot, extension = path.rpartition(".")
        for snippet in self._snippets():
            if dot and snippet.get("name") == stem and snippet.get("type") == extension:
                headers = (("Content-Type", type_by_name(path) or "text/plain; charset=utf-8"),)
                return Response(200, headers, str(snippet.get("content", "")).encode("utf-8", "replace"))
        if not is_below(path):
            return _UNAUTHORIZED
        return await _serve_file(request, WorkspaceRoot(self._files, "data/snippets"), cleaned(path))

    def _snippets(self) -> list[dict[str, object]]:
        try:
            listed = read_json(self._files.read("data/snippets/conf.json"))
        except (OSError, ValueError):
            return []
        return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []

    async def export(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        root = WorkspaceRoot(self._files, "temp/export")
        if request.path.startswith(_EXPORT_TEMP):
            path = posixpath.normpath(request.path.removeprefix(_EXPORT_TEMP))
            if ".." in path or not is_below(path):
                return _UNAUTHORIZED
            return await _serve_file(request, root, posixpath.join("temp", cleaned(path)))
        path = unquote(request.path.removeprefix("/export/"), errors="replace")
        if not is_below(path):
            return _UNAUTHORIZED
        if "\0" in path:
            return Response(500)
        found = root.stat(cleaned(path))
        if found is None or found.is_dir:
            return _MISSING
        disposition = ("Content-Disposition", attachment(posixpath.basename(path)))
        return await _serve_file(request, root, cleaned(path), (disposition,))

    async def history(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = cleaned(request.path.removeprefix("/history"))
        return await _serve_file(request, WorkspaceRoot(self._files, "history"), path)

    async def repo_diff(self, exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        path = cleaned(request.path.removeprefix("/repo/diff"))
        if ".." in path or not path:
            return _UNAUTHORIZED
        return await _serve_file(request, WorkspaceRoot(self._files, "temp/repo/diff"), path)


def _svg_answer(file: FileContent, extra: tuple[tuple[str, str], ...], *, allows_scripts: bool) -> Response:
    headers = (("Content-Type", "image/svg+xml"), _NO_SNIFF, *extra)
    if allows_scripts:
        return Response(200, headers, file.content)
    try:
        return Response(200, (*headers, _SVG_POLICY), sanitized(file.content))
    except SvgInvalid:
        return Response(422)


def front_end(request: Request) -> str:
    """The front end for a browser (kernel-facts, HTTP)."""
    agent = request.headers.get("user-agent") or ""
    desktop = "/stage/build/app/" if "Electron" in agent else "/stage/build/desktop/"
    chosen = cookie_value(request.headers, "siyuan-desktop-mode")
    if chosen == "true":
        return desktop
    if chosen == "false":
        return "/stage/build/mobile/"
    if "Electron" in agent or "Pad" in agent or "Mobile" not in agent:
        return desktop
    return "/stage/build/mobile/"
