"""What the recorded kernel made of Markdown, replayed here: the stored document, its kramdown, its DOM.

Two kinds of recording: whole exchanges of a kernel (``md-*``, ``doc2-*``), and ``markdown_cases.json``, small inputs with the
editor DOM and the stored blocks that the recorded Markdown engine made of them. ``SISYPHUS_GOLDEN`` names a folder with more
exchanges than the selection that comes with the tests.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from kernel.workspace import sy
from kernel.workspace.html import read_dom
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError
from kernel.workspace.markdown.ial import escape_value
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import markdown_to_blocks
from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.tree import Node

_COMMITTED = Path(__file__).parent.parent / "golden" / "recordings"
_RECORDINGS = Path(os.environ.get("SISYPHUS_GOLDEN", _COMMITTED))
_ID = re.compile(r"\d{14}-[0-9a-z]{7}")
_STAMP = re.compile(r"(?<![0-9])20\d{12}(?![0-9-])")
_ATTRIBUTE = r'[A-Za-z_][\w:.-]*="[^"]*"'
_LIST = re.compile(rf"\{{: ?({_ATTRIBUTE}(?:\s+{_ATTRIBUTE})+)\s*\}}")
_TAG = re.compile(r"<([A-Za-z][\w-]*)((?:\s+[A-Za-z_][\w:.-]*(?:=\"[^\"]*\")?)+)(\s*/?)>")
_BLOCK_ATTRIBUTE = re.compile(r"updated=\"|data-node-id=")
_REFERENCE_COUNT = re.compile(r' refcount="\d+"|<div class="protyle-attr--refcount popover__block">\d+</div>')

_FIXED = ("20260101000000-docdocd", "20200101000000-abcdefg")  # ids that the small cases themselves speak of


def _sorted_attributes(text: str) -> str:
    """The recorded kernel shuffles the attributes of a block from call to call."""

    def of_list(match: re.Match[str]) -> str:
        return "{: " + " ".join(sorted(re.findall(_ATTRIBUTE, match[1]))) + "}"

    def of_tag(match: re.Match[str]) -> str:
        if not _BLOCK_ATTRIBUTE.search(match[2]):
            return match[0]
        attributes = sorted(re.findall(r'[A-Za-z_][\w:.-]*(?:="[^"]*")?', match[2]))
        return f"<{match[1]} {' '.join(attributes)}{match[3]}>"

    return _TAG.sub(of_tag, _LIST.sub(of_list, text))


def _comparable(value: Any, names: dict[str, str]) -> Any:
    """``value`` with ids replaced by their name or order of appearance, and stamps by a word."""
    seen = {identifier: f"<{name}>" for name, identifier in names.items() if _ID.fullmatch(identifier)}
    seen |= {identifier: identifier for identifier in _FIXED}

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: walk(part[key]) for key in sorted(part)}
        if isinstance(part, list):
            return [walk(item) for item in part]
        if not isinstance(part, str):
            return part
        named = _ID.sub(lambda match: seen.setdefault(match[0], f"<#{len(seen) + 1}>"), _sorted_attributes(part))
        return _STAMP.sub("<stamp>", named)

    return walk(value)


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(part, names) for key, part in value.items()}
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda match: names.get(match[1], match[0]), value)
    return value


class Replay:
    """One recording, answered by the Markdown engine: only the calls that are about documents made of Markdown."""

    def __init__(self, day: str) -> None:
        self._numbers = itertools.count(1)
        self._stamp = day.replace("-", "") + "120000"
        self.names: dict[str, str] = {}
        self.documents: dict[str, Node] = {}
        self.nodes: dict[str, Node] = {}
        self.context = MarkdownContext(self._new_id, self.nodes.__contains__)

    def _new_id(self) -> str:
        return f"{self._stamp}-{next(self._numbers):07d}"

    def answer(self, path: str, step: dict[str, Any]) -> tuple[Any, ...]:
        """What the call gives, in a tuple; an empty one for calls that are not compared."""
        arguments = _filled(step.get("json", {}), self.names)
        if path == "/api/notebook/createNotebook":
            self.names["nb"] = self._new_id()
        elif path == "/api/filetree/createDocWithMd":
            return self._create(arguments, step.get("save", {}))
        elif path == "/api/file/getFile":
            document = self.documents.get(arguments["path"].rsplit("/", 1)[-1].removesuffix(".sy"))
            return (json.loads(sy.encode(document)),) if document else ()
        node = self.nodes.get(arguments.get("id", ""))
        if node is None:
            return ()
        if path == "/api/block/getChildBlocks":
            children = [] if node.type == "NodeHeading" else [child for child in node.children if child.id]
            for name, place in step.get("save", {}).items():
                index = int(place.split(".")[1])
                if index < len(children):
                    self.names[name] = children[index].id
        elif path == "/api/block/getBlockKramdown":
            return (render_kramdown(node, mode=arguments.get("mode", "md")),)
        elif path == "/api/block/getBlockDOM":
            blocks = node.children if node.type == "NodeDocument" else [node]
            return (render_dom(blocks, first_index=1),)
        elif path == "/api/filetree/getDoc" and arguments.get("mode") == 0:
            return (render_dom(node.children, first_index=0),)
        return ()

    def _create(self, arguments: dict[str, Any], saved: dict[str, str]) -> tuple[Any, ...]:
        identifier = arguments.get("id") or self._new_id()
        try:
            imported = markdown_to_blocks(arguments["markdown"], self.context, media_links=True)
        except MarkdownError:
            return (None,)
        title = escape_value(arguments["path"].rsplit("/", 1)[1])
        properties = {"id": identifier, "title": title, "type": "doc", "updated": identifier[:14]}
        root = Node(
            "NodeDocument", id=identifier, fields={"Spec": "2"}, properties=properties, children=imported.blocks
        )
        self.documents[identifier] = sy.decode(sy.encode(root), new_id=self._new_id)
        self.nodes |= {node.id: node for node in self.documents[identifier].walk() if node.id}
        self.names |= dict.fromkeys(saved, identifier)
        return (identifier,)


def _recorded(path: str, body: Any) -> Any:
    """The part of a recorded answer that this engine is asked for."""
    if path == "/api/file/getFile":
        return body
    data = body["data"]
    if isinstance(data, dict):
        data = data["kramdown" if path.endswith("Kramdown") else "content" if path.endswith("getDoc") else "dom"]
        return _REFERENCE_COUNT.sub("", data)
    return data


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem)
        for family in ("md", "doc2")
        for path in sorted(_RECORDINGS.glob(f"{family}-*.json"))
    ],
)
def test_a_document_made_of_markdown_is_stored_and_shown_as_recorded(path: Path) -> None:
    recording = json.loads(path.read_text())
    replay = Replay(recording["day"])
    compared = 0
    for exchange in recording["exchanges"]:
        call = exchange["step"].get("post", "")
        answer = replay.answer(call, exchange["step"])
        recorded = exchange["result"].get("json")
        if not answer or exchange["step"].get("ignore") or (call == "/api/filetree/getDoc" and not recorded["data"]):
            continue  # an ignored answer is one that the recorded kernel itself did not repeat
        wanted = _comparable(_recorded(call, recorded), exchange["names"])
        assert _comparable(answer[0], replay.names) == wanted, (call, exchange["step"]["json"])
        compared += 1
    assert compared > 0


def _cases(given: str) -> list[Any]:
    rows = [row for row in json.loads((_COMMITTED / "markdown_cases.json").read_text()) if given in row]
    return [pytest.param(row, id=f"{number}-{row[given][:24]!r}") for number, row in enumerate(rows)]


def _case_form(value: Any) -> str:
    """Comparable text; the recorded engine names some nodes otherwise until they are read back."""
    text = json.dumps(_comparable(value, {}), ensure_ascii=False)
    return text.replace("NodeInlineHTML", "NodeHTMLBlock").replace("NodeBackslashContent", "NodeText")


def _case_context() -> MarkdownContext:
    numbers = itertools.count(1)
    return MarkdownContext(lambda: f"20261130120000-{next(numbers):07d}", lambda _: True)


def _stored(blocks: list[Node]) -> Any:
    root = Node("NodeDocument", id=_FIXED[0], properties={"id": _FIXED[0]}, children=blocks)
    return json.loads(sy.encode(root)).get("Children", [])


@pytest.mark.parametrize("case", _cases("markdown"))
def test_small_markdown_becomes_the_recorded_dom_and_blocks(case: dict[str, Any]) -> None:
    context = _case_context()
    if case.get("gives_up"):
        with pytest.raises(MarkdownError):
            markdown_to_blocks(case["markdown"], context)
        return
    dom = render_dom(parse_markdown(case["markdown"], context=context), first_index=1, parsed=True)
    assert _case_form(dom) == _case_form(case["dom"])
    assert _case_form(_stored(read_dom(dom, context))) == _case_form(case["sy"])


@pytest.mark.parametrize("case", _cases("given"))
def test_small_dom_becomes_the_recorded_blocks(case: dict[str, Any]) -> None:
    if case.get("gives_up"):
        with pytest.raises(MarkdownError):
            read_dom(case["given"], _case_context())
        return
    assert _case_form(_stored(read_dom(case["given"], _case_context()))) == _case_form(case["sy"])
