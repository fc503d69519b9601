"""What callers write: naked references get anchors, old anchors their quotes; what is only a mention is pointed out.

Pure text work, but for the one question what a naked reference's target is called, which is asked of the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.tools.context import ToolContext
from kernel.tools.permissions import Level
from kernel.tools.windows import clean

_ID: Final = r"\d{14}-[0-9a-z]{7}"
_NAKED: Final = re.compile(rf"\(\(({_ID})\)\)")
_DOUBLE_QUOTED: Final = re.compile(rf'\(\(({_ID}) "([^"\n]*)"\)\)')
_ANCHORED: Final = re.compile(rf"\(\(({_ID}) '([^'\n]*)'\)\)")
_TAG: Final = re.compile(r"(?<![\w&#])#([^\s#<>]+)#")
_BLOCK_LINK: Final = re.compile(r"siyuan://blocks/")
_FOOTNOTE: Final = re.compile(r"\[\^\d+\]")
_IAL: Final = re.compile(r"\{:[^{}\n]*\}")
_LINE_MARK: Final = re.compile(r"^(?:[#>*+-]|\d+[.)]|\[[ xX]\]|\s)+")
_FALLBACK_WARNING: Final = "Some naked references have their target's id for an anchor: its text could not be read."
_FALLBACK_HINT: Final = "Some naked block references used the block ID as fallback anchor text."
_MENTION_WARNING: Final = (
    "siyuan://blocks/ links and footnotes are mentions: they do not count as references and make no backlinks."
)
_MENTION_HINT: Final = "Write ((id 'anchor')) for a reference."


@dataclass(slots=True)
class Written:
    """Input as it goes to the host, and what its author should know."""

    text: str
    notes: dict[str, Any] = field(default_factory=dict)


async def prepared(context: ToolContext, data_type: str, text: str) -> Written:
    """Input of either type.

    Raises:
        ToolError: validation_error, for a naked reference in DOM.
    """
    return await markdown(context, text) if data_type == "markdown" else dom(text)


async def markdown(context: ToolContext, text: str) -> Written:
    """Markdown: every naked ``((id))`` gets an anchor, double quotes around anchors become single ones."""
    written = Written(_DOUBLE_QUOTED.sub(lambda m: f"(({m[1]} '{_unquoted(m[2])}'))", text))
    anchors: dict[str, str] = {}
    for block_id in dict.fromkeys(_NAKED.findall(written.text)):
        anchors[block_id] = await _anchor_of(context, block_id)
    written.text = _NAKED.sub(lambda m: f"(({m[1]} '{anchors[m[1]]}'))", written.text)
    if _BLOCK_LINK.search(text) or _FOOTNOTE.search(text):
        written.notes["warning"] = _MENTION_WARNING
        written.notes["hint"] = _MENTION_HINT
    if any(anchor == block_id for block_id, anchor in anchors.items()):
        written.notes.setdefault("warning", _FALLBACK_WARNING)
        written.notes["hint"] = " ".join(filter(None, (written.notes.get("hint"), _FALLBACK_HINT)))
    return written


def dom(text: str) -> Written:
    """Editor DOM: references and tags in its text become their elements."""
    if _NAKED.search(text):
        raise ToolError(
            "validation_error",
            "A naked ((id)) cannot stand in DOM.",
            fields=[{"path": "data", "message": "Write ((id 'anchor')), or a block-ref element."}],
        )

    tagged = _outside_elements(_TAG, r'<span data-type="tag">\1</span>', text)
    reference = r'<span data-type="block-ref" data-subtype="s" data-id="\1">\2</span>'
    return Written(_outside_elements(_ANCHORED, reference, tagged))


def _outside_elements(pattern: re.Pattern[str], replacement: str, text: str) -> str:
    """Replace in the text between elements, never inside a tag's own attributes."""
    pieces = re.split(r"(<[^>]*>)", text)
    return "".join(piece if piece.startswith("<") else pattern.sub(replacement, piece) for piece in pieces)


async def _anchor_of(context: ToolContext, block_id: str) -> str:
    """The first readable line of the target, its name, or the id itself."""
    try:
        await context.require_block(block_id, Level.READ)
        data = await context.call("/api/block/getBlockKramdown", id=block_id)
        for line in str((data or {}).get("kramdown") or "").splitlines():
            if words := readable(line):
                return words
        info = await context.block_info(block_id)
    except (HostError, ToolError):
        return block_id
    return _unquoted(str(info.get("rootTitle") or "")) or block_id


def readable(line: str) -> str:
    """The words of one line of Kramdown, without marks and attributes; "" if there are none."""
    words = _LINE_MARK.sub("", _IAL.sub("", clean(line)))
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    words = _ANCHORED.sub(lambda m: m[2], words)
    return _unquoted(re.sub(r"[*_`~=]+", "", words)).strip()


def _unquoted(anchor: str) -> str:
    return anchor.replace("'", "’").strip()


def without_title(text: str, title: str) -> str:
    """Markdown without a first heading that only repeats the document's title."""
    lines = text.split("\n", 1)
    if title and lines[0].strip() == f"# {title}":
        return lines[1].lstrip("\n") if len(lines) > 1 else ""
    return text
