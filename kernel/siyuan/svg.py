"""[core] SVG pictures as the kernel serves them: read as XML, active content left out, written anew (kernel-facts, SVG)."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from kernel.siyuan.limits import SVG_DEPTH_MAX, SVG_PARTS_MAX

_UNSAFE_ELEMENTS: Final = frozenset(
    [
        "script",
        "iframe",
        "object",
        "embed",
        "foreignobject",
        "animate",
        "animatetransform",
        "animatecolor",
        "animatemotion",
        "set",
    ]
)
_SCRIPT_SCHEMES: Final = ("javascript:", "vbscript:")
_SAFE_IMAGES: Final = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp")
_STYLE_CALLS: Final = ("expression(", *_SCRIPT_SCHEMES)


class SvgInvalid(ValueError):
    """No well-formed SVG document; it is not served (422)."""


def sanitized(source: bytes) -> bytes:
    """The document without scripts, embedded pages, animations, handlers and script links.

    Raises:
        SvgInvalid: broken, too deep, another root, or with a document type.
    """
    writer = _Writer()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    parser.CommentHandler = writer.comment
    parser.StartDoctypeDeclHandler = writer.refuse_doctype
    try:
        parser.Parse(source, True)
    except expat.ExpatError as error:
        raise SvgInvalid(str(error)) from None
    return "".join(writer.parts).encode()


class _Writer:
    """Gets the parser's events and keeps what may stay."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._depth = 0
        self._tokens = 0
        # Levels below the unsafe element that is being left out; 0 outside of one.
        self._skipped = 0

    def start(self, name: str, attributes: list[str]) -> None:
        self._count()
        self._depth += 1
        if self._depth > SVG_DEPTH_MAX:
            raise SvgInvalid("too deep")
        if self._depth == 1 and _local(name).lower() != "svg":
            raise SvgInvalid("the root element is not svg")
        if self._skipped or _local(name).lower() in _UNSAFE_ELEMENTS:
            self._skipped += 1
            return
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        kept = "".join(f' {key}="{_escaped(value, in_attribute=True)}"' for key, value in pairs if _is_safe(key, value))
        self.parts.append(f"<{name}{kept}>")

    def end(self, name: str) -> None:
        self._count()
        self._depth -= 1
        if self._skipped:
            self._skipped -= 1
        else:
            self.parts.append(f"</{name}>")

    def text(self, data: str) -> None:
        self._count()
        if not self._skipped and self._depth:
            self.parts.append(_escaped(data, in_attribute=False))

    def comment(self, data: str) -> None:
        self._count()
        if not self._skipped and self._depth:
            self.parts.append(f"<!--{data}-->")

    def refuse_doctype(self, *_: object) -> None:
        raise SvgInvalid("document types are not allowed")

    def _count(self) -> None:
        self._tokens += 1
        if self._tokens > SVG_PARTS_MAX:
            raise SvgInvalid("too many parts")


def _local(name: str) -> str:
    return name.partition(":")[2] or name


def _is_safe(name: str, value: str) -> bool:
    key = _local(name).lower()
    bare = "".join(char for char in value if not char.isspace() and char.isprintable()).lower()
    if key.startswith("on"):
        return False
    if key == "href":
        if bare.startswith(_SCRIPT_SCHEMES):
            return False
        return not bare.startswith("data:") or bare.startswith(_SAFE_IMAGES)
    return not (key == "style" and any(call in bare for call in _STYLE_CALLS))


def _escaped(text: str, *, in_attribute: bool) -> str:
    pairs = [
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&#34;"),
        ("'", "&#39;"),
        ("\t", "&#x9;"),
        ("\r", "&#xD;"),
    ]
    if in_attribute:
        pairs.append(("\n", "&#xA;"))
    for char, entity in pairs:
        text = text.replace(char, entity)
    return text
