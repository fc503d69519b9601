"""``import``: a folder of Markdown into a notebook, through the running kernel or on the workspace itself."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from kernel.cli.place import default_workspace
from kernel.cli.showing import print_json
from kernel.clock import SystemClock
from kernel.ids import SystemIds
from kernel.json_text import read_json
from kernel.safety.lock import CoordinatorLock, HeldElsewhere
from kernel.workspace.boxes import create_box
from kernel.workspace.documents import Refusal
from kernel.workspace.files import StorageError
from kernel.workspace.imports.markdown_folder import ImportReport, import_folder, is_markdown, listed
from kernel.workspace.imports.sources import DiskSource, zipped
from kernel.workspace.workspace import NotFound, Workspace

if TYPE_CHECKING:
    import httpx

TOKEN_VARIABLE: Final = "SISYPHUS_TOKEN"
_LOCK: Final = ".lock"
_REQUEST_S_MAX: Final = 600.0
# Called with each file that has been read.
OnFile = Callable[[str], None]


class ImportFailed(Exception):
    """Nothing was brought in; the message says why."""


@dataclass(slots=True)
class ImportResult:
    """What an import did, for people and for ``--json``."""

    notebook: str
    through: str  # the kernel's URL, or "workspace"
    documents: int = 0
    assets: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @classmethod
    def of(cls, report: ImportReport, notebook: str, through: str) -> ImportResult:
        failed = [{"path": path, "reason": reason} for path, reason in report.failed]
        return cls(notebook, through, report.documents, report.assets, failed)


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--notebook", required=True, help="Name or id of the notebook; a new name makes a new notebook.")
@click.option("--workspace", type=click.Path(path_type=Path), help="Workspace folder (default: the data folder's).")
@click.option("--url", default="", help="A running kernel, instead of the one that holds the workspace.")
@click.option("--token", default="", help=f"Its API token (better: {TOKEN_VARIABLE}).")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object instead of a summary.")
def import_command(folder: Path, notebook: str, workspace: Path | None, url: str, token: str, is_json: bool) -> None:
    """Import a FOLDER of Markdown: sub-folders become documents, files beside them assets, links follow.

    Exit code 0: all of it; 1: some files, or all, could not be imported; 2: wrong arguments.
    """
    if url and workspace is not None:
        raise click.UsageError("--url and --workspace name two different places")
    clock = SystemClock()
    started = clock.now()
    place = (workspace or default_workspace()).absolute()
    token = token or os.environ.get(TOKEN_VARIABLE, "")
    try:
        with _progress(folder, is_json) as on_file:
            result = _import(folder, notebook, place, url, token, on_file)
    except ImportFailed as error:
        click.echo(json.dumps({"error": str(error)}) if is_json else f"Nothing imported: {error}", err=not is_json)
        sys.exit(1)
    result.seconds = round(clock.now() - started, 3)
    _show(result, is_json)
    sys.exit(1 if result.failed else 0)


def _import(folder: Path, notebook: str, place: Path, url: str, token: str, on_file: OnFile) -> ImportResult:
    if url:
        return through_kernel(url, token, folder, notebook, on_file)
    try:
        lock = CoordinatorLock.acquire(place / _LOCK)
    except HeldElsewhere as held:
        owner = held.owner
        if owner is None or not owner.url:
            raise ImportFailed(f"{held}; give its address with --url") from held
        parts = urlsplit(owner.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        return through_kernel(origin, token or _stored_token(place), folder, notebook, on_file)
    except OSError as error:
        raise ImportFailed(str(error)) from error
    try:
        return on_workspace(place, folder, notebook, on_file)
    finally:
        lock.release()


def _stored_token(place: Path) -> str:
    try:
        conf = read_json((place / "conf" / "conf.json").read_text(encoding="utf-8"))
        return str(conf["api"]["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


# --- on the workspace itself -----------------------------------------------------------------------------------------
def on_workspace(place: Path, folder: Path, notebook: str, on_file: OnFile) -> ImportResult:
    """Import where no kernel runs; the caller holds the workspace's lock. Raises ImportFailed."""
    report = ImportReport()
    try:
        workspace = Workspace.open(str(place), clock=SystemClock(), ids=SystemIds())
        box = _box_of(workspace, notebook)
        for path in import_folder(workspace, box, DiskSource(folder), "", report):
            on_file(path)
        workspace.files.flush()
    except (Refusal, NotFound, StorageError, OSError) as error:
        raise ImportFailed(str(error)) from error
    return ImportResult.of(report, box, "workspace")


def _box_of(workspace: Workspace, notebook: str) -> str:
    listed_boxes = workspace.notebooks.listed(int(workspace.conf.file_tree["sort"]))
    for known in listed_boxes:
        if notebook in (known.id, known.name):
            if known.is_closed:
                raise ImportFailed(f"the notebook {notebook} is closed")
            return known.id
    return create_box(workspace, notebook).id


# --- through a running kernel ----------------------------------------------------------------------------------------
def through_kernel(url: str, token: str, folder: Path, notebook: str, on_file: OnFile) -> ImportResult:
    """Send the folder to a kernel, which imports it in one call. Raises ImportFailed."""
    # httpx is slow to load, and only this way needs it.
    import httpx

    source = DiskSource(folder)
    paths = listed(source)
    report = ImportReport()
    readable = []
    for path in paths:
        try:
            source.read(path)
            readable.append(path)
        except OSError as error:
            report.failed.append((path, str(error)))
        on_file(path)
    headers = {"Authorization": f"Token {token}"} if token else {}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=_REQUEST_S_MAX, trust_env=False) as client:
            box = _box_there(client, notebook)
            before = _counts(client, box)
            archive = zipped(source, readable)
            files = {"file": (f"{source.name}.zip", archive, "application/zip")}
            _answer(client.post("/api/import/importZipMd", data={"notebook": box, "toPath": "/"}, files=files))
            _call(client, "sqlite/flushTransaction")
            after = _counts(client, box)
    except httpx.HTTPError as error:
        raise ImportFailed(f"{url}: {error or type(error).__name__}") from error
    report.documents = after - before
    report.assets = sum(not is_markdown(path) for path in readable)
    missing = sum(is_markdown(path) for path in readable) - report.documents
    if missing > 0:
        report.failed.append((str(folder), f"the kernel left out {missing} documents; its log says which"))
    return ImportResult.of(report, box, url)


def _box_there(client: httpx.Client, notebook: str) -> str:
    for known in _call(client, "notebook/lsNotebooks")["notebooks"]:
        if notebook in (known["id"], known["name"]):
            if known["closed"]:
                raise ImportFailed(f"the notebook {notebook} is closed")
            return str(known["id"])
    return str(_call(client, "notebook/createNotebook", name=notebook)["notebook"]["id"])


def _counts(client: httpx.Client, box: str) -> int:
    statement = f"SELECT count(*) AS n FROM blocks WHERE type = 'd' AND box = '{box}'"
    return int(_call(client, "query/sql", stmt=statement)[0]["n"])


def _call(client: httpx.Client, path: str, **arguments: Any) -> Any:
    return _answer(client.post(f"/api/{path}", json=arguments))


def _answer(response: httpx.Response) -> Any:
    try:
        answer = response.json()
    except ValueError:
        raise ImportFailed(f"{response.url} answered {response.status_code}") from None
    if not isinstance(answer, dict) or answer.get("code") != 0:
        words = answer.get("msg") if isinstance(answer, dict) else answer
        raise ImportFailed(f"{response.url.path}: {words}")
    return answer.get("data")


# --- showing ---------------------------------------------------------------------------------------------------------
@contextmanager
def _progress(folder: Path, is_json: bool) -> Iterator[OnFile]:
    """A bar over the files, on the terminal only."""
    if is_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("Importing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[file]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("import", total=len(listed(DiskSource(folder))), file="")
        yield lambda path: progress.update(task, advance=1, file=path[-40:])


def _show(result: ImportResult, is_json: bool) -> None:
    if is_json:
        print_json(asdict(result))
        return
    where = "on the workspace" if result.through == "workspace" else f"through {result.through}"
    click.echo(
        f"{result.documents} documents and {result.assets} assets in {result.seconds:.1f} s, {where}, "
        f"notebook {result.notebook}"
    )
    for failure in result.failed:
        click.echo(f"left out {failure['path']}: {failure['reason']}", err=True)
