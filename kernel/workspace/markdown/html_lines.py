"""[core] Which lines begin a block of HTML, and of which of CommonMark's seven kinds (the kernel's reading of them)."""

from __future__ import annotations

import re
from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS

KINDS_ENDED_BY_BLANK: Final = frozenset({6, 7})

# The order counts: of two tags that begin alike only the first is ever tried, so "<colgroup>" is no block tag.
_BLOCK_NAMES: Final = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "section",
    "source",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
    "video",
    "audio",
]
_RAW_OPEN: Final = re.compile("<script|<pre|<style|<textarea")
_RAW_CLOSE: Final = re.compile("</script>|</pre>|</style>|</textarea>")
_BLOCK_TAG: Final = re.compile(
    "|".join(f"<{name}" for name in _BLOCK_NAMES) + "|" + "|".join(f"</{n}" for n in _BLOCK_NAMES)
)
_SPECIAL_ENDS: Final = {2: "-->", 3: "?>", 4: ">", 5: "]]>"}
_OPEN_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*\Z")
_CLOSE_TAG: Final = re.compile(r"</[a-zA-Z][a-zA-Z0-9-]*>\Z")
_ATTRIBUTE_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_.:-]*\Z")
_BLANK_RUN: Final = re.compile("[ \n\t\x0b\x0c\r]+")


def html_kind(line: str, *, in_paragraph: bool) -> int:
    """The kind (1 to 7) of HTML block that ``line``, from its first character on, would begin; 0 for none."""
    text = line.lstrip(ASCII_BLANKS)
    if len(text) < 3 or text[0] != "<":
        return 0
    if (match := _RAW_OPEN.search(text)) and _ends_name(text, len(match[0]), slash=False):
        return 1
    if (match := _BLOCK_TAG.search(text)) and _ends_name(text, len(match[0]), slash=True):
        return 6
    tag = text.strip(ASCII_BLANKS)
    if not in_paragraph and (is_open_tag(tag) or _CLOSE_TAG.match(tag)):
        return 7
    return _special_kind(text)


def ends_raw(line: str, kind: int) -> bool:
    """Whether ``line`` holds what ends a block of the kinds 1 to 5; a blank ends the others."""
    return _RAW_CLOSE.search(line) is not None if kind == 1 else _SPECIAL_ENDS[kind] in line


def _ends_name(text: str, position: int, *, slash: bool) -> bool:
    """Whether a tag's name may end at ``position``, counted from the line's start even where the tag stands later."""
    following = text[position : position + 1]
    if following == "" or following in ASCII_BLANKS or following == ">":
        return following != ""
    return slash and text[position : position + 2] == "/>"


def _special_kind(text: str) -> int:
    if text.startswith("<!--"):
        return 2
    if text.startswith("<?"):
        return 3
    if text.startswith("<!"):
        if "A" <= text[2:3] <= "Z":
            return 4
        if text.startswith("<![CDATA["):
            return 5
    return 0


def is_open_tag(tag: str) -> bool:
    """Whether ``tag`` is one whole opening tag; after the first attribute with a value the rest is not looked at."""
    if len(tag) < 3 or tag[0] != "<" or tag[-1] != ">":
        return False
    body = tag[1:-2] if tag[-2] == "/" else tag[1:-1]
    if not body or body[0] in ASCII_BLANKS:
        return False
    name, *attributes = _BLANK_RUN.split(body)
    if not _OPEN_NAME.match(name):
        return False
    for attribute in attributes:
        if len(attribute) <= 1:
            continue
        key, equals, value = attribute.partition("=")
        if not key:
            continue
        if not _ATTRIBUTE_NAME.match(key):
            return False
        if equals:
            return _is_value(value)
    return True


def _is_value(value: str) -> bool:
    for quote in "'\"":
        if value.startswith(quote) and value.endswith(quote):
            return len(value) > 1 and quote not in value[1:-1]
    return not any(character in value for character in " \t\n\"'=<>`")
