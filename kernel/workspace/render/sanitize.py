"""[core] What the kernel takes out of embedded HTML before it shows it: event handlers and dangerous addresses."""

from __future__ import annotations

import re
from typing import Final

from kernel.workspace.elements import escape_markup, parse_html, write_html
from kernel.workspace.markdown.characters import UNICODE_BLANKS
from kernel.workspace.markdown.entities import unescape

_FORBIDDEN: Final = frozenset({"http-equiv", "formaction", "srcdoc"})
_ADDRESSES: Final = frozenset({"src", "srcset", "href", "action", "xlink:href"})
_DANGEROUS: Final = ("data:image/svg+xml", "data:text/html", "javascript")
_MARKUP: Final = frozenset("&<>'\"\r")
_TAG: Final = re.compile(r"<[a-zA-Z/!?][^>]*>?")


def keeps_attribute(name: str, value: str) -> bool:
    """Whether an attribute survives."""
    if name.startswith("on") or name in _FORBIDDEN:
        return False
    if name not in _ADDRESSES:
        return True
    address = "".join(c for c in value.strip(UNICODE_BLANKS).lower() if c == " " or c not in UNICODE_BLANKS)
    return not address.startswith(_DANGEROUS)


def sanitize_media(markup: str) -> str:
    """The one element that an iframe, widget, video or audio block holds, with a ``src`` in any case."""
    root = parse_html(markup)
    if not root.children:
        return markup
    for element in root.walk():
        element.attributes = {name: value for name, value in element.attributes.items() if keeps_attribute(name, value)}
    element = root.children[0]
    element.attributes.setdefault("src", "")
    return write_html(element)


def sanitize_address(address: str) -> str:
    """An image's address as the kernel's sanitizer leaves it: text escaped, a tag that does not end cut off."""
    if not _MARKUP.intersection(address):
        return address
    parts, position = [], 0
    for match in _TAG.finditer(address):
        parts.append(escape_markup(unescape(address[position : match.start()])))
        parts.append(match[0] if match[0].endswith(">") else "")
        position = match.end()
    parts.append(escape_markup(unescape(address[position:])))
    return "".join(parts)


def image_tag(attributes: list[tuple[str, str]]) -> str:
    """An ``<img>`` of raw attribute texts, as it is once the kernel has read and written it again."""
    if not any(_MARKUP.intersection(value) for _, value in attributes):
        kept = [(name, value) for name, value in attributes if keeps_attribute(name, value)]
        return _written(kept) + " />"
    source = "".join(f' {name}="{value}"' for name, value in attributes)
    image, *rest = parse_html(f"<img{source} />").children
    kept = [(name, escape_markup(value)) for name, value in image.attributes.items() if keeps_attribute(name, value)]
    # A quote in an attribute may end the tag early: what follows is text.
    return _written(kept) + (">" + "".join(map(write_html, rest)) if rest else " />")


def _written(attributes: list[tuple[str, str]]) -> str:
    return "<img" + "".join(f' {name}="{value}"' for name, value in attributes)


def iframe_style(markup: str) -> str:
    """The value of the first ``style`` attribute written in ``markup``."""
    at = markup.find("style=")
    if at < 0:
        return ""
    quote = markup[at + 6 : at + 7]
    end = markup.find(quote, at + 7) if quote else -1
    return "" if end < 0 else markup[at + 7 : end]
