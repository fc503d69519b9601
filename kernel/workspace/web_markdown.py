"""[core] HTML of the web as Markdown: what is pasted or clipped becomes text that the Markdown engine reads.

Structure is kept (headings, lists, quotes, tables, code, links, images, emphasis); looks, scripts and forms are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kernel.workspace.elements import parse_html, write_html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.workspace.elements import Element

_DROPPED: Final = frozenset({"script", "style", "head", "title", "meta", "link", "noscript", "template", "#comment"})
_MARKS: Final = {
    "strong": "**",
    "b": "**",
    "em": "*",
    "i": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
    "mark": "==",
}
_TAGS: Final = frozenset({"sub", "sup", "u", "kbd"})
_BLOCKS: Final = frozenset(
    [
        *(
            [
                "html",
                "body",
                "div",
                "p",
                "section",
                "article",
                "header",
                "footer",
                "main",
                "aside",
                "nav",
                "figure",
                "figcaption",
                "center",
                "form",
                "fieldset",
            ]
        ),
        *(
            [
                "h1",
                "h2",
                "h3",
                "h4",
                "h5",
                "h6",
                "ul",
                "ol",
                "li",
                "blockquote",
                "pre",
                "hr",
                "table",
                "dl",
                "dt",
                "dd",
                "address",
                "details",
                "summary",
            ]
        ),
    ]
)
_HEADING: Final = re.compile(r"h([1-6])")
_MEDIA: Final = frozenset({"iframe", "video", "audio"})
_BLANKS: Final = re.compile(r"[ \t\r\n\f\u00a0]+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>$~^#|])")
_LANGUAGE: Final = re.compile(r"(?:language|lang)-([\w+#.-]+)")
_FENCE: Final = re.compile(r"`{3,}")


def web_to_markdown(markup: str) -> str:
    """Markdown of a piece of HTML; blocks are apart by one empty line."""
    root = parse_html(markup)
    return "\n\n".join(_blocks(root.children)).strip("\n")


def _blocks(children: Iterable[Element]) -> list[str]:
    """The blocks among these: inline content between blocks is a paragraph of its own."""
    blocks: list[str] = []
    inline: list[Element] = []

    def close() -> None:
        text = _inlines(inline).strip()
        inline.clear()
        if text:
            blocks.append(text)

    for child in children:
        if child.tag in _DROPPED:
            continue
        if child.tag == "p" and inline and not _holds_block(child):
            # Text right before a paragraph is its beginning.
            inline += child.children
            close()
        elif child.tag in _BLOCKS or child.tag in _MEDIA:
            close()
            blocks += _block(child)
        elif not child.is_text and _holds_block(child):
            close()
            blocks += _blocks(child.children)
        else:
            inline.append(child)
    close()
    return blocks


def _holds_block(element: Element) -> bool:
    return any(below.tag in _BLOCKS for below in element.walk() if below is not element)


def _block(element: Element) -> list[str]:
    heading = _HEADING.fullmatch(element.tag)
    if heading:
        return [f"{'#' * int(heading[1])} {_inlines(element.children).strip()}".rstrip()]
    if element.tag in _MEDIA:
        return [write_html(element)]
    match element.tag:
        case "hr":
            return ["---"]
        case "pre":
            return [_code(element)]
        case "ul" | "ol":
            return _list(element)
        case "blockquote":
            quoted = "\n\n".join(_blocks(element.children))
            return ["\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))] if quoted else []
        case "table":
            return _table(element)
        case "dt":
            return [_around("**", "**", _inlines(element.children).strip())]
        case _:
            return _blocks(element.children)


def _code(element: Element) -> str:
    code = element.first("code")
    classes = f"{element.get('class')} {code.get('class') if code is not None else ''}"
    language = _LANGUAGE.search(classes)
    text = element.text().strip("\n")
    fence = "`" * max([3, *(len(found[0]) + 1 for found in _FENCE.finditer(text))])
    return f"{fence}{language[1] if language else ''}\n{text}\n{fence}"


def _list(element: Element) -> list[str]:
    items = [child for child in element.children if child.tag == "li"]
    lines: list[str] = []
    start = element.get("start")
    first = int(start) if start.isdecimal() else 1
    for number, item in enumerate(items, first):
        marker = f"{number}. " if element.tag == "ol" else "* "
        content = "\n".join(_blocks(item.children)).split("\n")
        lines.append(f"{marker}{content[0]}".rstrip())
        lines += [f"{' ' * len(marker)}{line}".rstrip() for line in content[1:]]
    return ["\n".join(lines)] if lines else []


def _table(element: Element) -> list[str]:
    rows = [row for row in element.walk() if row.tag == "tr"]
    cells = [
        [_inlines(cell.children).strip().replace("\n", "<br />") for cell in row.children if cell.tag in ("td", "th")]
        for row in rows
    ]
    cells = [row for row in cells if row]
    if not cells:
        return []
    if len(cells) == 1 and len(cells[0]) == 1:
        # One cell alone is no table.
        return [cells[0][0]] if cells[0][0] else []
    width = max(map(len, cells))
    lines = [f"|{'|'.join([*row, *[''] * (width - len(row))])}|" for row in cells]
    lines.insert(1, f"|{'|'.join(['---'] * width)}|")
    return ["\n".join(lines)]


def _inlines(children: Iterable[Element]) -> str:
    return "".join(_inline(child) for child in children)


def _inline(element: Element) -> str:
    if element.is_text:
        return _SPECIAL.sub(r"\\\1", _BLANKS.sub(" ", element.data))
    if element.tag in _DROPPED:
        return ""
    match element.tag:
        case "br":
            return "\n"
        case "img":
            return _image(element)
        case "code" | "samp" | "tt":
            text = _BLANKS.sub(" ", element.text()).strip()
            ticks = "``" if "`" in text else "`"
            return f"{ticks}{text}{ticks}" if text else ""
        case "input":
            if element.get("type") != "checkbox":
                return ""
            return "[X] " if "checked" in element.attributes else "[ ] "
        case "a":
            return _link(element)
    inner = _inlines(element.children)
    mark = _MARKS.get(element.tag)
    if mark is not None:
        return _around(mark, mark, inner)
    if element.tag in _TAGS:
        return _around(f"<{element.tag}>", f"</{element.tag}>", inner)
    return inner


def _around(before: str, after: str, inner: str) -> str:
    """Marks stand close to the text; blanks at its ends stay outside of them."""
    text = inner.strip()
    if not text:
        return inner
    lead = inner[: len(inner) - len(inner.lstrip())]
    tail = inner[len(inner.rstrip()) :]
    return f"{lead}{before}{text}{after}{tail}"


def _link(element: Element) -> str:
    text = _inlines(element.children).strip()
    address = element.get("href").strip()
    if address.lower().startswith("javascript:"):
        return text
    return f"[{text or address}]({_address(address)}{_title(element)})"


def _image(element: Element) -> str:
    address = (element.get("src") or element.get("data-src")).strip()
    if not address:
        return ""
    alt = element.get("alt").replace("]", "\\]").replace("\n", " ")
    return f"![{alt}]({_address(address)}{_title(element)})"


def _address(address: str) -> str:
    return address.replace(" ", "%20").replace("(", "%28").replace(")", "%29")


def _title(element: Element) -> str:
    title = element.get("title").strip()
    if not title:
        return ""
    escaped = title.replace('"', "&quot;").replace("\n", " ")
    return f' "{escaped}"'
