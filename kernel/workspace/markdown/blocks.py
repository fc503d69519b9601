"""[core] The block structure of the dialect: lines in, a tree of drafts out.

Theory of operation. The open blocks form a path from the document to the ``tip``. For each line

1. every open block on the path is asked whether the line continues it (``continuations``); the last that says yes is
   the container;
2. while the container takes blocks, the line's first character chooses which kinds may start there (``starts``); each
   container started is the next one to ask, a leaf ends the search;
3. what is left of the line is text: a lazy continuation of a paragraph, a line of the leaf, or a new paragraph.

A block is finished (``finishing``) when a line does not continue it and is no lazy continuation either. Only then a
paragraph may turn out to be a table, a quote to be a callout.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.continuations import Continued, closes_math, continues
from kernel.workspace.markdown.draft import Draft
from kernel.workspace.markdown.finishing import finish, mark_tight_lists
from kernel.workspace.markdown.html_lines import KINDS_ENDED_BY_BLANK, ends_raw
from kernel.workspace.markdown.ial import Attributes
from kernel.workspace.markdown.lines import Line, split_lines
from kernel.workspace.markdown.starts import STARTS, Begun, start_indented_code


def parse_blocks(text: str, context: MarkdownContext) -> Draft:
    """The document of ``text`` as drafts, all closed; inline text is not looked at yet."""
    parser = BlockParser(context)
    parser.feed(split_lines(text))
    return parser.finish()


class BlockParser:
    """One document being read."""

    def __init__(self, context: MarkdownContext) -> None:
        self.context = context
        self.root = Draft("NodeDocument")
        self.tip = self.root
        self.line = Line("\n")
        self.last_matched = self.root
        self._old_tip = self.root
        self._all_closed = True
        self._number = 0
        self._blank_lines: set[int] = set()

    def feed(self, lines: Iterable[str]) -> None:
        for text in lines:
            self._read(Line(text))

    def finish(self) -> Draft:
        tip: Draft | None = self.tip
        while tip is not None:
            self.close(tip)
            tip = self.tip if self.tip is not tip and tip is not self.root else None
        if self.context.is_imported:
            mark_tight_lists(self.root, self.stands_apart)
        return self.root

    # --- what starts and continuations use ---

    def add(self, block: Draft) -> Draft:
        """Append ``block`` where it may stand, closing what cannot contain it, and make it the tip."""
        while not self.tip.can_contain(block.kind):
            self.close(self.tip)
        block.line = self._number
        return self.enter(self.tip.append(block))

    def enter(self, block: Draft) -> Draft:
        self.tip = block
        return block

    def close(self, block: Draft) -> None:
        """Finish a block; the tip becomes its parent, or the table that its text has turned into."""
        parent = block.parent
        block.closed = True
        successor = finish(block, self.context)
        if successor is not None:
            self.tip = successor
        elif parent is not None:
            self.tip = parent

    def close_unmatched(self) -> None:
        """Close the blocks that the line does not continue."""
        if self._all_closed:
            return
        while self._old_tip is not self.last_matched:
            parent = self._old_tip.parent
            assert parent is not None, "the matched container is an ancestor of the tip"
            self.close(self._old_tip)
            self._old_tip = parent
        self._all_closed = True

    def close_super_block(self) -> None:
        """End the innermost open super block with the line ``}}}``."""
        while self.tip.kind != "NodeSuperBlock":
            self.close(self.tip)
        block = self.tip
        block.append(Draft("NodeSuperBlockCloseMarker")).closed = True
        block.closed = True
        assert block.parent is not None, "a super block stands in something"
        self.tip = block.parent

    def take_document_attributes(self, attributes: Attributes) -> None:
        self.root.attributes = attributes
        self.root.identity = attributes[0][1]

    def stands_apart(self, block: Draft) -> bool:
        """Whether the line above a block is empty."""
        return block.line - 1 in self._blank_lines

    # --- one line ---

    def _read(self, line: Line) -> None:
        self.line = line
        self._number += 1
        if not line.text.strip():
            self._blank_lines.add(self._number)
        self._old_tip = self.tip
        container = self._match(line)
        if container is None:
            return
        self._all_closed = container is self._old_tip
        self.last_matched = container
        container, is_leaf = self._start(line, container)
        if not self._all_closed and not line.blank and self.tip.kind == "NodeParagraph":
            self._add_line(line)
            return
        self.close_unmatched()
        if container.holds_text:
            self._add_line(line)
            self._end_by_line(container, line)
        elif line.position < len(line.text) and not line.blank and not is_leaf:
            self.add(Draft("NodeParagraph"))
            line.skip_blanks()
            self._add_line(line)

    def _match(self, line: Line) -> Draft | None:
        """The last open block that the line continues; None when the line did nothing but end one."""
        container = self.root
        while container.children and not container.children[-1].closed:
            block = container.children[-1]
            line.look()
            match continues(block, line, self):
                case Continued.NO:
                    return container
                case Continued.ENDED:
                    return None
            container = block
        return container

    def _start(self, line: Line, container: Draft) -> tuple[Draft, bool]:
        """Begin the blocks that begin on this line: the innermost container or leaf, and whether it is a leaf."""
        while container.kind == "NodeParagraph" or not container.holds_text:
            line.look()
            begun = Begun.NOTHING
            if not line.indented and not line.blank:
                for start in STARTS.get(line.text[line.next], ()):
                    begun = start(self, container)
                    if begun is not Begun.NOTHING:
                        break
            if begun is Begun.NOTHING and self.context.is_imported:
                begun = start_indented_code(self)
            if begun is Begun.NOTHING:
                line.skip_blanks()
                return container, False
            container = self.tip
            if begun is Begun.LEAF:
                return container, True
        return container, True

    def _add_line(self, line: Line) -> None:
        block = self.tip
        assert block.parent is not None, "text stands in a block"
        keeps_blanks = block.parent.kind == "NodeDocument" and not self.context.is_imported
        if keeps_blanks and len(line.text) > 1 and line.text[0] in " \t":
            # A top-level block keeps the blanks before its lines, those left of a half-taken tab even twice.
            block.pieces.append(line.left_of_tab() + line.text)
        else:
            block.pieces.append(line.rest())

    def _end_by_line(self, block: Draft, line: Line) -> None:
        if block.kind == "NodeHTMLBlock" and block.html_kind not in KINDS_ENDED_BY_BLANK:
            if ends_raw(line.text[line.position :], block.html_kind):
                self.close(block)
        elif block.kind == "NodeMathBlock" and closes_math(block):
            self.close(block)
