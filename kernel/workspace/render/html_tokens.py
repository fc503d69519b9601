"""[core] HTML as the kernel shows it in a page: token by token, without what could run, never balanced or completed."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from kernel.workspace.elements import escape_markup
from kernel.workspace.markdown.entities import unescape
from kernel.workspace.render.sanitize import keeps_attribute

# Elements that go with all that stands in them; a blank stays for each of their tags.
_REMOVED: Final = frozenset(
    {"frame", "frameset", "noembed", "noframes", "noscript", "nostyle", "object", "script", "style", "title"}
)


def sanitized_tokens(markup: str) -> str:
    """``markup`` with every token written anew: attributes quoted, texts escaped, comments and scripts left out."""
    reader = _Tokens()
    reader.feed(markup)
    reader.close()
    return "".join(reader.parts)


class _Tokens(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.removed_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _REMOVED:
            self.removed_depth += 1
            self.parts.append(" ")
        else:
            self._put(f"<{tag}{_written(attrs)}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        written = _written(attrs)
        self._put(f"<{tag}{written} />" if tag == "img" else f"<{tag}{written}/>")

    def handle_endtag(self, tag: str) -> None:
        if tag in _REMOVED:
            self.removed_depth = max(self.removed_depth - 1, 0)
            self.parts.append(" ")
        else:
            self._put(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._put(escape_markup(data))

    def handle_entityref(self, name: str) -> None:
        self._put(escape_markup(unescape(f"&{name};")))

    def handle_charref(self, name: str) -> None:
        self._put(escape_markup(unescape(f"&#{name};")))

    def _put(self, text: str) -> None:
        if not self.removed_depth:
            self.parts.append(text)


def _written(attributes: list[tuple[str, str | None]]) -> str:
    kept = [(name, value or "") for name, value in attributes if keeps_attribute(name, value or "")]
    return "".join(f' {name}="{escape_markup(value)}"' for name, value in kept)
