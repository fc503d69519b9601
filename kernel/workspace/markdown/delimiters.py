"""[core] Emphasis and its kin: delimiter runs, and the matching of those that open with those that close.

CommonMark's algorithm with the kernel's changes: punctuation never matters, ``~ ^ = #`` match runs of their own length
only, and one lower bound per character stops fruitless searches.
"""

from __future__ import annotations

from typing import Final

from kernel.workspace.markdown.characters import ZERO_WIDTH_SPACE, is_blank
from kernel.workspace.markdown.context import Unmarked
from kernel.workspace.markdown.scan import Delimiter, DelimiterStack, Scanner, Span
from kernel.workspace.markdown.text_marks import node_text

DELIMITERS: Final = frozenset("*_~=#^")
_EQUAL_LENGTHS: Final = frozenset("~=#^")
_SINGLE: Final = {"*": "em", "_": "em", "~": "sub", "#": "tag", "^": "sup", "=": "mark"}
_DOUBLE: Final = {"*": "strong", "_": "strong", "~": "s", "=": "mark"}
# The lengths with which a run of these can be a delimiter at all.
_LENGTHS: Final = {"=": (2,), "#": (1,), "^": (1,), "~": (1, 2, 3)}


def scan_run(scanner: Scanner) -> None:
    """Take the run of delimiters at the cursor; each hash is a run of its own."""
    text, start = scanner.text, scanner.position
    character = text[start]
    end = start + 1
    is_single = character == "#" and "#" not in scanner.unmarked
    while not is_single and end < len(text) and text[end] == character:
        end += 1
    scanner.position = end
    piece = scanner.add_text(text[start:end])
    before_blank = start == 0 or is_blank(text[start - 1])
    after_blank = end == len(text) or is_blank(text[end])
    can_open, can_close = not after_blank, not before_blank
    if character == "_" and can_open and can_close:
        return  # an underscore inside a word
    length = end - start
    if not _is_marker(character, length, scanner.unmarked) or not (can_open or can_close):
        return
    scanner.delimiters.push(Delimiter(character, piece, len(scanner.pieces) - 1, length, length, can_open, can_close))


def _is_marker(character: str, length: int, unmarked: Unmarked) -> bool:
    """Whether a run of this length can be a delimiter. One tilde and two can be switched off each by itself."""
    if character == "~" and unmarked:
        if "~~" in unmarked:
            return length == 1 and "~" not in unmarked
        return length > 1 if "~" in unmarked else length <= 3
    return character not in unmarked and length in _LENGTHS.get(character, (length,))


def match_delimiters(scanner: Scanner, bottom: Delimiter | None) -> None:
    """Match what lies on the stack above ``bottom``, then take it off."""
    stack = scanner.delimiters
    bottoms: dict[str, Delimiter | None] = dict.fromkeys(DELIMITERS, bottom)
    closer = stack.top
    if closer is None or closer is bottom:
        return
    while closer.previous is not None and closer.previous is not bottom:
        closer = closer.previous
    odd = False
    current: Delimiter | None = closer
    while current is not None:
        if not current.can_close:
            current = current.next
            continue
        opener, odd = _find_opener(current, bottom, bottoms[current.character], odd)
        if opener is not None:
            current = _match(scanner, stack, opener, current)
            continue
        failed, current = current, current.next
        if not odd:
            bottoms[failed.character] = failed.previous
            if not failed.can_open:
                stack.remove(failed)
    while stack.top is not None and stack.top is not bottom:
        stack.remove(stack.top)


def _find_opener(
    closer: Delimiter, bottom: Delimiter | None, limit: Delimiter | None, odd: bool
) -> tuple[Delimiter | None, bool]:
    """The nearest delimiter that opens what ``closer`` closes; ``odd`` says whether the rule of three forbade the last."""
    opener = closer.previous
    while opener is not None and opener is not bottom and opener is not limit:
        both = closer.can_open or opener.can_close
        odd = both and closer.length % 3 != 0 and (opener.length + closer.length) % 3 == 0
        if opener.character == closer.character and opener.can_open and not odd:
            return opener, odd
        opener = opener.previous
    return None, odd


def _match(scanner: Scanner, stack: DelimiterStack, opener: Delimiter, closer: Delimiter) -> Delimiter | None:
    """Make a span of opener and closer, if they may; the delimiter to go on with."""
    character = closer.character
    if character in _EQUAL_LENGTHS and opener.count != closer.count:
        return closer.next
    if character == "#" and not _has_text(scanner, opener.index, closer.index):
        return closer.next
    used = 2 if opener.count >= 2 and closer.count >= 2 else 1
    source = character * used
    # With the single tilde switched off, one that is left of a longer run goes without a trace.
    is_traceless = source == "~" and source in scanner.unmarked
    opener.count -= used
    closer.count -= used
    opener.piece.text = opener.piece.text[used:]
    closer.piece.text = closer.piece.text[used:]
    if not is_traceless:
        span = Span((_DOUBLE if used == 2 else _SINGLE)[character], source)
        opener.piece.opens.append(span)
        closer.piece.closes.append(span)
    opener.next = closer
    closer.previous = opener
    if opener.count == 0:
        stack.remove(opener)
    if closer.count == 0:
        following = closer.next
        stack.remove(closer)
        return following
    return closer


def _has_text(scanner: Scanner, start: int, end: int) -> bool:
    """Whether a tag between two pieces would have a name: text, links' text and refs count, code does not."""
    for index in range(start + 1, end):
        piece = scanner.pieces[index]
        content = piece.text if piece.kind in ("text", "ref") else ""
        if piece.node is not None:
            content = node_text(piece.node)
        if content.replace(ZERO_WIDTH_SPACE, "").strip():
            return True
    return False
