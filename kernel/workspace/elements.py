"""[core] HTML as a plain tree of elements: parsed by Lexbor (a spec-conforming HTML5 parser), written as the kernel does.

Only this module knows the parser's own types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kernel.workspace.markdown.characters import ZERO_WIDTH_SPACE
from kernel.workspace.markdown.entities import restrict_names

TEXT: Final = ""  # the tag of a text node
COMMENT: Final = "!--"

# The words that the kernel's HTML reader knows (HTML's elements and attributes); any other tag is foreign to it.
_KNOWN: Final = frozenset(
    [
        "a",
        "abbr",
        "accept",
        "accept-charset",
        "accesskey",
        "acronym",
        "action",
        "address",
        "align",
        "allowfullscreen",
        "allowpaymentrequest",
        "allowusermedia",
        "alt",
        "annotation",
        "annotation-xml",
        "applet",
        "area",
        "article",
        "as",
        "aside",
        "async",
        "audio",
        "autocomplete",
        "autofocus",
        "autoplay",
        "b",
        "base",
        "basefont",
        "bdi",
        "bdo",
        "bgsound",
        "big",
        "blink",
        "blockquote",
        "body",
        "br",
        "button",
        "canvas",
        "caption",
        "center",
        "challenge",
        "charset",
        "checked",
        "cite",
        "class",
        "code",
        "col",
        "colgroup",
        "color",
        "cols",
        "colspan",
        "command",
        "content",
        "contenteditable",
        "contextmenu",
        "controls",
        "coords",
        "crossorigin",
        "data",
        "datalist",
        "datetime",
        "dd",
        "default",
        "defer",
        "del",
        "desc",
        "details",
        "dfn",
        "dialog",
        "dir",
        "dirname",
        "disabled",
        "div",
        "dl",
        "download",
        "draggable",
        "dropzone",
        "dt",
        "em",
        "embed",
        "enctype",
        "face",
        "fieldset",
        "figcaption",
        "figure",
        "font",
        "footer",
        "for",
        "foreignobject",
        "form",
        "formaction",
        "formenctype",
        "formmethod",
        "formnovalidate",
        "formtarget",
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
        "headers",
        "height",
        "hgroup",
        "hidden",
        "high",
        "hr",
        "href",
        "hreflang",
        "html",
        "http-equiv",
        "i",
        "icon",
        "id",
        "iframe",
        "image",
        "img",
        "input",
        "inputmode",
        "ins",
        "integrity",
        "is",
        "isindex",
        "ismap",
        "itemid",
        "itemprop",
        "itemref",
        "itemscope",
        "itemtype",
        "kbd",
        "keygen",
        "keytype",
        "kind",
        "label",
        "lang",
        "legend",
        "li",
        "link",
        "list",
        "listing",
        "loop",
        "low",
        "main",
        "malignmark",
        "manifest",
        "map",
        "mark",
        "marquee",
        "math",
        "max",
        "maxlength",
        "media",
        "mediagroup",
        "menu",
        "menuitem",
        "meta",
        "meter",
        "method",
        "mglyph",
        "mi",
        "min",
        "minlength",
        "mn",
        "mo",
        "ms",
        "mtext",
        "multiple",
        "muted",
        "name",
        "nav",
        "nobr",
        "noembed",
        "noframes",
        "nomodule",
        "nonce",
        "noscript",
        "novalidate",
        "object",
        "ol",
        "open",
        "optgroup",
        "optimum",
        "option",
        "output",
        "p",
        "param",
        "pattern",
        "picture",
        "ping",
        "placeholder",
        "plaintext",
        "playsinline",
        "poster",
        "pre",
        "preload",
        "progress",
        "prompt",
        "public",
        "q",
        "radiogroup",
        "rb",
        "readonly",
        "referrerpolicy",
        "rel",
        "required",
        "reversed",
        "rows",
        "rowspan",
        "rp",
        "rt",
        "rtc",
        "ruby",
        "s",
        "samp",
        "sandbox",
        "scope",
        "scoped",
        "script",
        "seamless",
        "section",
        "select",
        "selected",
        "shape",
        "size",
        "sizes",
        "slot",
        "small",
        "sortable",
        "sorted",
        "source",
        "spacer",
        "span",
        "spellcheck",
        "src",
        "srcdoc",
        "srclang",
        "srcset",
        "start",
        "step",
        "strike",
        "strong",
        "style",
        "sub",
        "summary",
        "sup",
        "svg",
        "system",
        "tabindex",
        "table",
        "target",
        "tbody",
        "td",
        "template",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "track",
        "translate",
        "tt",
        "type",
        "typemustmatch",
        "u",
        "ul",
        "updateviacache",
        "usemap",
        "value",
        "var",
        "video",
        "wbr",
        "width",
        "workertype",
        "wrap",
        "xmp",
    ]
)
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "command",
        "embed",
        "hr",
        "img",
        "input",
        "keygen",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_RAW: Final = frozenset(["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"])
_TEMPORARY_MARKS: Final = frozenset({"search-mark", "virtual-block-ref"})


class Element:
    """An element, or a text (``tag`` is ``""``) or comment with its ``data``."""

    __slots__ = ("attributes", "children", "data", "parent", "tag")

    def __init__(self, tag: str, *, data: str = "", attributes: dict[str, str] | None = None) -> None:
        self.tag = tag
        self.data = data
        self.attributes: dict[str, str] = attributes or {}
        self.children: list[Element] = []
        self.parent: Element | None = None

    @property
    def is_text(self) -> bool:
        return self.tag == TEXT

    @property
    def is_known(self) -> bool:
        """Whether the tag is one of HTML's; texts and comments are not."""
        return self.tag in _KNOWN

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def append(self, child: Element) -> None:
        child.parent = self
        self.children.append(child)

    def within(self, tag: str) -> bool:
        """Whether an ancestor has ``tag``."""
        parent = self.parent
        while parent is not None:
            if parent.tag == tag:
                return True
            parent = parent.parent
        return False

    def first(self, tag: str) -> Element | None:
        """The first element with ``tag`` in document order, this one included."""
        return next((element for element in self.walk() if element.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def text(self) -> str:
        """The text below: ``<br>`` is a newline, ``<p>`` begins with two; what foreign elements hold is left out."""
        if self.is_text:
            return self.data
        parts: list[str] = []
        stack = list(reversed(self.children))
        while stack:
            element = stack.pop()
            if element.is_text:
                parts.append(element.data)
                continue
            if element.get("data-render") in ("1", "2") or not _shows_text(element, parts):
                continue
            if element.tag == "br":
                parts.append("\n")
            elif element.tag == "p":
                parts.append("\n\n")
            stack.extend(reversed(element.children))
        return "".join(parts)


def _shows_text(element: Element, parts: list[str]) -> bool:
    if element.tag in (COMMENT, "svg", "use"):
        return False
    if element.is_known:
        return True
    parent = element.parent
    if parent is None or parent.tag != "span" or parent.get("data-type") not in _TEMPORARY_MARKS:
        return False
    parts.append(f"<{element.tag}>")
    return True


def parse_html(markup: str) -> Element:
    """The body of ``markup`` as an element."""
    # Two megabytes that nobody needs who does not write.
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(restrict_names(markup)).body
    root = Element("body")
    if body is None:
        return root
    pending: list[tuple[Any, Element]] = [(body, root)]
    while pending:
        source, target = pending.pop()
        child = source.first_child
        while child is not None:
            element = _convert(child)
            target.append(element)
            if child.first_child is not None:
                pending.append((child, element))
            child = child.next
    return root


def _convert(node: Any) -> Element:
    if node.is_text_node:
        return Element(TEXT, data=node.text_content or "")
    if node.is_comment_node:
        return Element(COMMENT, data=(node.html or "")[4:-3])
    attributes = {name: value or "" for name, value in node.attributes.items()}
    return Element(node.tag or "", attributes=attributes)


def escape_markup(text: str) -> str:
    """Text as the kernel's HTML writer escapes it: quotes by number."""
    text = text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;")
    return text.replace(">", "&gt;").replace('"', "&#34;").replace("\r", "&#13;")


def write_html(element: Element) -> str:
    """The markup of ``element``, without zero-width spaces."""
    parts: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            parts.append(entry)
        elif entry.is_text:
            raw = entry.parent is not None and entry.parent.tag in _RAW
            parts.append(entry.data if raw else escape_markup(entry.data))
        elif entry.tag == COMMENT:
            parts.append(f"<!--{entry.data}-->")
        else:
            attributes = "".join(f' {name}="{escape_markup(value)}"' for name, value in entry.attributes.items())
            if entry.tag in _VOID:
                parts.append(f"<{entry.tag}{attributes}/>")
                continue
            parts.append(f"<{entry.tag}{attributes}>")
            stack.append(f"</{entry.tag}>")
            stack.extend(reversed(entry.children))
    return "".join(parts).replace(ZERO_WIDTH_SPACE, "")
