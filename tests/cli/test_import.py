"""``import`` on a workspace that no kernel holds, and with wrong arguments."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernel.cli import import_, main
from kernel.safety.lock import CoordinatorLock
from tests.bench.server import server
from tests.cli.running import Kernel, serving


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "a.md").write_text("one [b](sub/b.md)")
    (docs / "sub" / "b.md").write_text("two ![p](p.png)")
    (docs / "sub" / "p.png").write_bytes(b"png")
    return docs


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["import", *arguments])
    return result.exit_code, result.output


def test_a_folder_is_brought_into_a_new_notebook(folder: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "workspace")
    code, output = run(str(folder), "--notebook", "Docs", "--workspace", place, "--json")
    told = json.loads(output)
    assert (code, told["documents"], told["assets"], told["failed"], told["through"]) == (0, 4, 1, [], "workspace")
    again, output = run(str(folder), "--notebook", told["notebook"], "--workspace", place)
    assert again == 0
    assert output.startswith("4 documents and 1 assets in ")


def test_files_that_cannot_be_read_are_named_and_the_rest_is_brought_in(folder: Path, tmp_path: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    code, output = run(str(folder), "--notebook", "Docs", "--workspace", str(tmp_path / "w"), "--json")
    told = json.loads(output)
    assert (code, told["documents"], [one["path"] for one in told["failed"]]) == (1, 4, ["bad.md"])


def test_a_workspace_in_other_hands_is_left_alone(folder: Path, tmp_path: Path) -> None:
    lock = CoordinatorLock.acquire(tmp_path / "w" / ".lock")
    try:
        code, output = run(str(folder), "--notebook", "Docs", "--workspace", str(tmp_path / "w"), "--json")
    finally:
        lock.release()
    assert code == 1
    assert "give its address with --url" in json.loads(output)["error"]
    assert not (tmp_path / "w" / "data").exists()


def test_wrong_arguments_end_with_2(folder: Path) -> None:
    assert run(str(folder))[0] == 2
    assert run(str(folder), "--notebook", "x", "--url", "http://localhost:1", "--workspace", "w")[0] == 2


def test_a_kernel_that_does_not_answer_is_said(folder: Path) -> None:
    code, output = run(str(folder), "--notebook", "x", "--url", "http://127.0.0.1:1", "--json")
    assert code == 1
    assert "127.0.0.1:1" in json.loads(output)["error"]


# --- through a kernel that runs ---


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with serving(tmp_path_factory.mktemp("import") / "workspace") as running:
        yield running


@pytest.mark.wire
def test_a_running_kernel_takes_the_folder_by_its_address_or_its_workspace(folder: Path, kernel: Kernel) -> None:
    code, output = run(
        str(folder),
        "--notebook",
        "Docs",
        "--url",
        kernel.url,
        "--token",
        import_._stored_token(kernel.workspace),
        "--json",
    )
    told = json.loads(output)
    assert (code, told["documents"], told["assets"], told["failed"]) == (0, 4, 1, [])
    assert told["through"] == kernel.url
    # The workspace's lock says who serves it, its configuration says the token.
    code, output = run(str(folder), "--notebook", told["notebook"], "--workspace", str(kernel.workspace))
    assert (code, f"through {kernel.url}, notebook {told['notebook']}" in output) == (0, True)
    kernel.api("notebook/closeNotebook", notebook=told["notebook"])
    code, output = run(str(folder), "--notebook", "Docs", "--url", kernel.url, "--json")
    assert (code, json.loads(output)["error"]) == (1, "the notebook Docs is closed")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 502 X\r\nContent-Length: 2\r\n\r\nno", "answered 502"),
        (b'HTTP/1.1 200 X\r\nContent-Length: 23\r\n\r\n{"code":-1,"msg":"busy"}'[:-1], "answered 200"),
        (b'HTTP/1.1 200 X\r\nContent-Length: 24\r\n\r\n{"code":-1,"msg":"busy"}', "/api/notebook/lsNotebooks: busy"),
        (b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n[]", "/api/notebook/lsNotebooks: []"),
        (None, "disconnected"),
    ],
)
def test_a_kernel_that_does_not_do_it_is_told_in_its_words(folder: Path, answer: bytes | None, words: str) -> None:
    with server(lambda _data, _number: answer) as port:
        code, output = run(str(folder), "--notebook", "x", "--url", f"http://127.0.0.1:{port}", "--json")
    assert code == 1
    assert words in json.loads(output)["error"]


def test_documents_that_the_kernel_leaves_out_are_told(folder: Path) -> None:
    answers = {
        b"lsNotebooks": {"notebooks": [{"id": "box", "name": "x", "closed": False}]},
        b"query/sql": [{"n": 0}],
    }

    def handle(data: bytes, _number: int) -> bytes | None:
        known = next((told for path, told in answers.items() if path in data.split(b"\r\n")[0]), None)
        body = json.dumps({"code": 0, "data": known}).encode()
        return b"HTTP/1.1 200 X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    with server(handle) as port:
        code, output = run(str(folder), "--notebook", "x", "--url", f"http://127.0.0.1:{port}", "--json")
    told = json.loads(output)
    assert (code, told["documents"]) == (1, 0)
    assert "left out 2 documents" in str(told["failed"])


@pytest.mark.parametrize("content", ["{", "[]", '{"api": {}}', '{"api": {"token": "t"}}'])
def test_the_token_is_the_workspaces_own(tmp_path: Path, content: str) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "conf.json").write_text(content)
    assert import_._stored_token(tmp_path) == ("t" if "token" in content else "")
    assert import_._stored_token(tmp_path / "none") == ""


def test_a_closed_notebook_and_a_folder_that_is_none_are_refused(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "workspace"
    told = json.loads(run(str(folder), "--notebook", "Docs", "--workspace", str(place), "--json")[1])
    conf = place / "data" / told["notebook"] / ".siyuan" / "conf.json"
    conf.write_text(json.dumps({**json.loads(conf.read_text()), "closed": True}))
    code, output = run(str(folder), "--notebook", "Docs", "--workspace", str(place))
    assert (code, output) == (1, "Nothing imported: the notebook Docs is closed\n")
    (tmp_path / "file").write_text("x")
    assert run(str(folder), "--notebook", "Docs", "--workspace", str(tmp_path / "file" / "w"))[0] == 1


def test_on_a_terminal_each_file_moves_a_bar(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    written.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stderr", written)
    with import_._progress(folder, is_json=False) as on_file:
        on_file("a.md")
    assert "Importing" in written.getvalue()
    with import_._progress(folder, is_json=True) as on_file:
        on_file("a.md")
