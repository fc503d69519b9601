"""[core] Attribute lists, ``{: name="value" …}``: reading, writing, and the escaping of their values (section 2.4).

The reader follows the kernel's in its peculiarities (bare values lose both ends, a nameless list is a list): they decide
what is an attribute list and what stays text.
"""

from __future__ import annotations

from typing import Final

from kernel.workspace.markdown.characters import ASCII_BLANKS, NEWLINE_ESCAPE
from kernel.workspace.markdown.entities import unescape

Attributes = list[tuple[str, str]]

_NAME_START: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:")
_NAME: Final = _NAME_START | frozenset("0123456789-.")
_BARE_END: Final = frozenset("\"'=<`")


def escape_text(text: str) -> str:
    """``& < > "`` as entities: DOM text and attributes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def escape_value(value: str) -> str:
    """An attribute's value as ``.sy`` and kramdown hold it."""
    escaped = escape_text(value).replace("\n", NEWLINE_ESCAPE)
    return escaped.replace("{", "&#123;").replace("}", "&#125;")


def unescape_value(value: str) -> str:
    """The value behind its stored form."""
    return unescape(value.replace(NEWLINE_ESCAPE, "\n"))


def write_list(attributes: Attributes) -> str:
    """``{: a="1" b="2"}`` with the values as they are."""
    return "{: " + " ".join(f'{name}="{value}"' for name, value in attributes) + "}"


def read_block_list(text: str) -> Attributes | None:
    """The attributes when ``text`` is one whole line ``{: …}``; None when it is not."""
    if not text.startswith("{:"):
        return None
    body = text[2:]
    end = body.rfind("}")
    if end < 3 or body[end:] != "}\n":
        return None
    return read_attributes(body) or None


def read_attributes(text: str) -> Attributes:
    """The attributes in ``text``, with or without the braces around them."""
    text = text.rstrip(" \n").removeprefix("{:").removesuffix("}").replace("\n", NEWLINE_ESCAPE)
    return [(name, value.replace(NEWLINE_ESCAPE, "\n")) for name, value in _scan(text)]


def rewritten(attributes: Attributes) -> Attributes:
    """The attributes once they have been written and read again, as those of an item are: some do not survive it."""
    return read_attributes(write_list(attributes))


def read_leading_list(text: str) -> tuple[Attributes, int]:
    """The attribute list that ``text`` begins with and the index behind its brace; ``([], 0)`` without one."""
    if not text.startswith("{:"):
        return [], 0
    end = text.find("}", 2)
    if end - 2 < 3:
        return [], 0
    attributes = _scan(text[2:end])
    return (attributes, end + 1) if attributes else ([], 0)


def looks_identified(text: str) -> bool:
    """Whether a line inside a block may be the attribute list that ends it: only one with an id interrupts."""
    return len(text) > len('{: id="') and 'id="' in text


def _scan(text: str) -> Attributes:
    found: Attributes = []
    position = 0
    while True:
        valid, position, name, value = scan_attribute(text, position)
        if not valid or name is None:
            return found
        found.append((name, value))


def scan_attribute(text: str, position: int) -> tuple[bool, int, str | None, str]:
    """One ``blank name = value`` at ``position``: (valid, next position, name or None without one, value).

    A name without a value gives the name ``""``, as the kernel has it.
    """
    start = position
    length = len(text)
    while position < length and text[position] in ASCII_BLANKS:
        position += 1
    if position in (start, length) or text[position] not in _NAME_START:
        return True, start, None, ""
    name_start = position
    position += 1
    while position < length and text[position] in _NAME:
        position += 1
    name = text[name_start:position]
    valid, end, spec = _scan_value(text, position)
    if not valid:
        return False, start, None, ""
    if spec is None:
        return True, position, "", ""
    return True, end, name, spec[2:-1]


def _scan_value(text: str, position: int) -> tuple[bool, int, str | None]:
    """The part ``= value`` at ``position``: (valid, next position, its text or None without one)."""
    start = position
    length = len(text)
    while position < length and text[position] in ASCII_BLANKS:
        position += 1
    if position == length or text[position] != "=":
        return True, start, None
    position += 1
    while position < length and text[position] in ASCII_BLANKS:
        position += 1
    if position >= length:
        return False, start, None
    quote = text[position]
    if quote in "\"'":
        end = text.find(quote, position + 1)
        return (False, start, None) if end < 0 else (True, end + 1, text[start : end + 1])
    return _scan_bare(text, start, position + 1)


def _scan_bare(text: str, start: int, position: int) -> tuple[bool, int, str | None]:
    """An unquoted value whose first character is behind us: it needs a second one, and takes the blank after it."""
    closed = False
    while position < len(text):
        character = text[position]
        if character == ">":
            break
        position += 1
        if character in ASCII_BLANKS:
            break
        if character in _BARE_END:
            return False, start, None
        closed = True
    return (True, position, text[start:position]) if closed else (False, start, None)
