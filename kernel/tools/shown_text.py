"""What a block must show after a plain single-paragraph write, and whether it does (decision 40).

Only text without any markup is compared: what the host makes of markup is its own affair. Spacing, ids, times and the
order of attributes are normalised away, for the host sets them as it likes. Pure, but for ``are_shown``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kernel.safety.intent import Observation
from kernel.tools.context import ToolContext

# Characters that Markdown gives no meaning inside a line, beside letters, digits and spaces.
_PLAIN_MARKS: Final = frozenset(",.;:?!'\"-/@%()…–—·“”‘’，。、；：？！（）《》「」『』【】")
# ":name:" is an emoji, "((" begins a reference, "--" at a line's start a rule, "!!" and "%%" nothing, but who knows.
_MARKUP: Final = re.compile(r":[\w+-]+:|\(\(|\)\)|%%")
# What begins a line as a list, a rule or a definition.
_LINE_START: Final = re.compile(r"\s*(?:[-:]|\d+[.)、]|\(\w+\))")
_PARAGRAPH: Final = re.compile(r'data-type="NodeParagraph"')
_ANY_BLOCK: Final = re.compile(r'data-type="Node\w+"')
# Elements of a paragraph's DOM that are no markup of its text.
_FRAME: Final = re.compile(r"</?div(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>")
_ELEMENT: Final = re.compile(r"<(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>")


def plain_text(data_type: str, data: str) -> str | None:
    """The text of a write that is one plain paragraph; None for any other, and for an empty one."""
    text = data
    if data_type == "dom":
        if len(_PARAGRAPH.findall(data)) != 1 or len(_ANY_BLOCK.findall(data)) != 1:
            return None
        text = _FRAME.sub("", data)
        if "<" in text:
            return None
        text = html.unescape(text)
    lines = squeezed_lines(text)
    if not lines or not all(_is_plain(line) for line in lines):
        return None
    return "".join(_essence(line) for line in lines) or None


def squeezed_lines(text: str) -> list[str]:
    """The lines of a text that is at most one paragraph; none where an empty line parts it."""
    lines = text.strip().splitlines()
    return lines if all(line.strip() for line in lines) else []


def _is_plain(line: str) -> bool:
    return (
        _MARKUP.search(line) is None
        and _LINE_START.match(line) is None
        and all(letter in _PLAIN_MARKS or unicodedata.category(letter)[0] in "LNM" or letter == " " for letter in line)
    )


def _essence(text: str) -> str:
    """A text without white space and invisible characters: the host adds and drops both."""
    return "".join(letter for letter in text if not letter.isspace() and unicodedata.category(letter) not in _UNSEEN)


_UNSEEN: Final = frozenset({"Cf", "Cc"})


def shows(state: Any, wanted: str) -> bool:
    """Whether a block's state (``{dom, kramdown, …}``) shows the text, in the editor's form or in Kramdown."""
    if not isinstance(state, Mapping):
        return False
    dom, kramdown = str(state.get("dom") or ""), str(state.get("kramdown") or "")
    return wanted in _essence(html.unescape(_ELEMENT.sub("", dom))) or wanted in _essence(kramdown)


def expects(wanted: Mapping[str, str | None]) -> Callable[[Observation], bool] | None:
    """The expectation that these blocks (id → plain text, None for no plain one) show their text; None for none."""
    plain = {block_id: text for block_id, text in wanted.items() if text is not None}
    if not plain:
        return None

    def holds(seen: Observation) -> bool:
        return all(shows((seen.state or {}).get(block_id), text) for block_id, text in plain.items())

    return holds


def expects_below(document: str, wanted: Iterable[str | None]) -> Callable[[Observation], bool] | None:
    """The expectation that a document shows these texts somewhere; None for none."""
    plain = [text for text in wanted if text is not None]
    if not plain:
        return None

    def holds(seen: Observation) -> bool:
        state = (seen.state or {}).get(document)
        return all(shows(state, text) for text in plain)

    return holds


async def are_shown(context: ToolContext, ids: Iterable[str], wanted: Iterable[str | None]) -> bool:
    """Whether these blocks, taken together, show every one of the plain texts, as their live tree has it now."""
    plain = [text for text in wanted if text is not None]
    if not plain:
        return True
    doms = await context.call("/api/block/getBlockDOMs", ids=list(ids))
    return isinstance(doms, Mapping) and all(any(shows({"dom": dom}, text) for dom in doms.values()) for text in plain)
