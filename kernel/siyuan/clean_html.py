"""[core] Markup in messages that windows show: what formats text stays, what acts goes (measured on the kernel)."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlsplit

_FORMATTING: Final = (
    "a abbr acronym article aside b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div "
    "dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hgroup hr i img ins kbd li mark meter ol p pre progress q rp rt ruby "
    "s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
_KEPT: Final = frozenset(_FORMATTING.split())
# Elements whose content goes with them.
_EMPTIED: Final = frozenset(
    ["script", "style", "iframe", "noscript", "object", "title", "textarea", "noembed", "noframes"]
)
_ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "a": ("href",),
    "img": ("src", "alt", "title", "width", "height", "align"),
    "td": ("colspan", "rowspan", "align", "valign"),
    "th": ("colspan", "rowspan", "align", "valign"),
}
_ADDRESSES: Final = frozenset(["href", "src", "cite"])
_SCHEMES: Final = frozenset(["", "http", "https", "mailto"])


def cleaned(markup: str) -> str:
    """The same message without scripts, handlers, frames, styles and unknown elements."""
    cleaner = _Cleaner()
    cleaner.feed(markup)
    cleaner.close()
    return "".join(cleaner.parts)


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._emptying = 0
        self._bare_links = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _EMPTIED:
            self._emptying += 1
            return
        if self._emptying or tag not in _KEPT:
            return
        kept = [(name, value or "") for name, value in attrs if _is_kept(tag, name, value or "")]
        if tag == "a" and not kept:
            # A link that leads nowhere is only its text.
            self._bare_links += 1
            return
        if tag == "a":
            kept.append(("rel", "nofollow"))
        self.parts.append(f"<{tag}{''.join(f' {name}={_quoted(value)}' for name, value in kept)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _EMPTIED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _EMPTIED:
            self._emptying = max(0, self._emptying - 1)
        elif tag == "a" and self._bare_links:
            self._bare_links -= 1
        elif not self._emptying and tag in _KEPT:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._emptying:
            self.parts.append(_escaped(data))


def _is_kept(tag: str, name: str, value: str) -> bool:
    if name not in _ATTRIBUTES.get(tag, ()):
        return False
    if name not in _ADDRESSES:
        return True
    try:
        return urlsplit("".join(value.split())).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _quoted(value: str) -> str:
    return f'"{_escaped(value)}"'


def _escaped(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;"), ("'", "&#39;")):
        text = text.replace(char, entity)
    return text
