"""Documents in every form they are shown or exported in, as observed on the real kernel (``observed_renderings.json``).

The order of a block's attributes changes there from one answer to the next, so tags are compared with theirs in order.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

OBSERVED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("observed_renderings.json").read_text("utf-8"))
FORMS: dict[str, tuple[str, dict[str, Any], str]] = {
    "kramdown": ("block/getBlockKramdown", {}, "kramdown"),
    "kramdown of marks": ("block/getBlockKramdown", {"mode": "textmark"}, "kramdown"),
    "Markdown": ("export/exportMdContent", {}, "content"),
    "preview": ("export/preview", {}, "html"),
    "page": ("export/exportPreviewHTML", {"keepFold": False, "merge": False}, "content"),
    "print": ("export/exportHTML", {"pdf": True, "savePath": "", "keepFold": False, "merge": False}, "content"),
    "editor": ("filetree/getDoc", {"mode": 0, "size": 128}, "content"),
    "outline": ("outline/getDocOutline", {}, ""),
}
_TAG = re.compile(r"<(\w[\w-]*)((?: [\w:-]+(?:=\"[^\"]*\")?)+)( ?/?)>")
_ATTRIBUTE = re.compile(r" ([\w:-]+(?:=\"[^\"]*\")?)")
_LIST = re.compile(r"\{: ([^{}]*?)\}")
_ID = re.compile(r"(?!20200101)\d{14}-[0-9a-z]{7}")


def _in_order(found: re.Match[str]) -> str:
    return f"<{found[1]} {' '.join(sorted(_ATTRIBUTE.findall(found[2])))}{found[3]}>"


def comparable(answer: object) -> str:
    """An answer without ids and times, the attributes of tags and lists in order."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False).replace('\\"', '"')
    text = _ID.sub("ID", re.sub(r' ?"?updated"?[=:] ?"\d{14}"', "", text))
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", text)
    text = _LIST.sub(lambda found: "{: " + " ".join(sorted(found[1].split())) + "}", text)
    return _TAG.sub(_in_order, text)


@pytest.mark.parametrize("case", OBSERVED, ids=lambda case: case.get("markdown", case.get("dom"))[:40])
async def test_a_document_is_shown_and_exported_as_observed(kernel: MemoryKernel, case: dict[str, Any]) -> None:
    box = await kernel.notebook()
    document_id = await kernel.document(box, "/Doc", case.get("markdown", ""))
    if "dom" in case:  # what an editor pastes
        await kernel.call("block/appendBlock", parentID=document_id, dataType="dom", data=case["dom"])
    for form, wanted in case["forms"].items():
        path, options, member = FORMS[form]
        answer = await kernel.call(path, id=document_id, **options)
        assert comparable(answer[member] if member else answer) == wanted, form
