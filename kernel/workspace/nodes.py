"""[core] The node table: for every node type its ``.sy`` fields, DOM class, SQL letter, sort and nature. No rules, no I/O.

Whatever needs to know something of a node type reads it here: the codec, the parser, every renderer and the index.
Sources: siyuan-markdown sections 1.1, 1.2, 4 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

SPEC_CURRENT: Final = 2  # the newest file specification that this kernel reads and the one that it writes


class Nature(Enum):
    """What a node is to its surroundings."""

    CONTAINER = "container"  # a block whose children are blocks
    LEAF = "leaf"  # a block that holds text, or only its own data
    INLINE = "inline"  # part of a text
    MARKER = "marker"  # carries a piece of its parent: no id, never addressed by itself


@dataclass(frozen=True, slots=True)
class NodeKind:
    """One row of the table. ``sql_type`` and ``dom_class`` are ``""`` where the kernel has none."""

    type: str
    nature: Nature
    fields: tuple[str, ...] = ()
    dom_class: str = ""
    sql_type: str = ""
    sort: int = 100

    @property
    def is_block(self) -> bool:
        return self.nature in (Nature.CONTAINER, Nature.LEAF)

    @property
    def is_container(self) -> bool:
        return self.nature is Nature.CONTAINER

    @property
    def is_leaf(self) -> bool:
        return self.nature is Nature.LEAF

    @property
    def is_inline(self) -> bool:
        return self.nature is Nature.INLINE

    @property
    def is_marker(self) -> bool:
        return self.nature is Nature.MARKER


# The order in which the kernel writes the members of a node; Children come last.
FIELD_ORDER: Final = (
    "ID",
    "Spec",
    "Type",
    "Data",
    "CodeMarkerLen",
    "IsFencedCodeBlock",
    "CodeBlockFenceChar",
    "CodeBlockFenceLen",
    "CodeBlockFenceOffset",
    "CodeBlockOpenFence",
    "CodeBlockInfo",
    "CodeBlockCloseFence",
    "HtmlBlockType",
    "ListData",
    "TaskListItemChecked",
    "TaskListItemMarker",
    "TableAligns",
    "TableCellAlign",
    "TableCellContentWidth",
    "TableCellContentMaxWidth",
    "LinkType",
    "LinkRefLabel",
    "HeadingLevel",
    "HeadingSetext",
    "HeadingNormalizedID",
    "MathBlockDollarOffset",
    "FootnotesRefLabel",
    "FootnotesRefId",
    "HtmlEntityTokens",
    "Properties",
    "TextMarkType",
    "TextMarkAHref",
    "TextMarkATitle",
    "TextMarkInlineMathContent",
    "TextMarkInlineMemoContent",
    "TextMarkBlockRefID",
    "TextMarkBlockRefSubtype",
    "TextMarkFileAnnotationRefID",
    "TextMarkTextContent",
    "AttributeViewID",
    "AttributeViewType",
    "CustomBlockFenceOffset",
    "CustomBlockInfo",
    "CalloutType",
    "CalloutTitle",
    "CalloutIcon",
    "CalloutIconType",
    "Children",
)
LIST_DATA_ORDER: Final = (
    "Typ",
    "Tight",
    "BulletChar",
    "Start",
    "Delimiter",
    "Padding",
    "Checked",
    "Marker",
    "Num",
)
TEXT_MARK_FIELDS: Final = tuple(name for name in FIELD_ORDER if name.startswith("TextMark"))

LIST_BULLET: Final = 0  # ListData.Typ
LIST_ORDERED: Final = 1
LIST_TASK: Final = 3

_BLOCKS: Final = (
    NodeKind("NodeDocument", Nature.CONTAINER, ("Spec",), sql_type="d", sort=0),
    NodeKind("NodeHeading", Nature.LEAF, ("HeadingLevel", "HeadingSetext"), sql_type="h", sort=5),
    NodeKind("NodeParagraph", Nature.LEAF, dom_class="p", sql_type="p", sort=10),
    NodeKind("NodeList", Nature.CONTAINER, ("ListData",), "list", "l", 20),
    NodeKind("NodeListItem", Nature.CONTAINER, ("ListData",), "li", "i", 20),
    NodeKind("NodeBlockquote", Nature.CONTAINER, dom_class="bq", sql_type="b", sort=20),
    NodeKind(
        "NodeCallout",
        Nature.CONTAINER,
        ("CalloutType", "CalloutTitle", "CalloutIcon", "CalloutIconType"),
        "callout",
        "callout",
        20,
    ),
    NodeKind("NodeSuperBlock", Nature.CONTAINER, dom_class="sb", sql_type="s", sort=30),
    NodeKind(
        "NodeCodeBlock",
        Nature.LEAF,
        (
            "IsFencedCodeBlock",
            "CodeBlockFenceChar",
            "CodeBlockFenceLen",
            "CodeBlockFenceOffset",
            "CodeBlockOpenFence",
            "CodeBlockCloseFence",
        ),
        "code-block",
        "c",
        10,
    ),
    NodeKind("NodeMathBlock", Nature.LEAF, ("MathBlockDollarOffset",), "render-node", "m", 10),
    NodeKind("NodeTable", Nature.LEAF, ("TableAligns",), "table", "t", 10),
    NodeKind("NodeHTMLBlock", Nature.LEAF, ("HtmlBlockType",), "render-node", "html", 10),
    NodeKind("NodeThematicBreak", Nature.LEAF, dom_class="hr", sql_type="tb"),
    NodeKind("NodeBlockQueryEmbed", Nature.LEAF, dom_class="render-node", sql_type="query_embed"),
    NodeKind("NodeAttributeView", Nature.LEAF, ("AttributeViewID", "AttributeViewType"), "av", "av", 30),
    NodeKind("NodeIFrame", Nature.LEAF, dom_class="iframe", sql_type="iframe"),
    NodeKind("NodeVideo", Nature.LEAF, dom_class="iframe", sql_type="video"),
    NodeKind("NodeAudio", Nature.LEAF, dom_class="iframe", sql_type="audio"),
    NodeKind("NodeWidget", Nature.LEAF, dom_class="iframe", sql_type="widget"),
)
_INLINES: Final = (
    NodeKind("NodeText", Nature.INLINE),
    NodeKind("NodeTextMark", Nature.INLINE, TEXT_MARK_FIELDS),
    NodeKind("NodeBackslash", Nature.INLINE),
    NodeKind("NodeBr", Nature.INLINE),
    NodeKind("NodeImage", Nature.INLINE),
    NodeKind("NodeEmoji", Nature.INLINE),
    NodeKind("NodeKramdownSpanIAL", Nature.INLINE),
    NodeKind("NodeSoftBreak", Nature.INLINE),
    NodeKind("NodeHardBreak", Nature.INLINE),
    NodeKind("NodeHTMLEntity", Nature.INLINE),
    NodeKind("NodeFileAnnotationRef", Nature.INLINE),
)
_MARKERS: Final = (
    NodeKind("NodeTaskListItemMarker", Nature.MARKER, ("TaskListItemChecked", "TaskListItemMarker")),
    NodeKind("NodeBlockquoteMarker", Nature.MARKER),
    NodeKind("NodeSuperBlockOpenMarker", Nature.MARKER),
    NodeKind("NodeSuperBlockLayoutMarker", Nature.MARKER),
    NodeKind("NodeSuperBlockCloseMarker", Nature.MARKER),
    NodeKind("NodeCodeBlockFenceOpenMarker", Nature.MARKER),
    NodeKind("NodeCodeBlockFenceInfoMarker", Nature.MARKER, ("CodeBlockInfo",)),
    NodeKind("NodeCodeBlockCode", Nature.MARKER),
    NodeKind("NodeCodeBlockFenceCloseMarker", Nature.MARKER),
    NodeKind("NodeMathBlockOpenMarker", Nature.MARKER),
    NodeKind("NodeMathBlockContent", Nature.MARKER),
    NodeKind("NodeMathBlockCloseMarker", Nature.MARKER),
    NodeKind("NodeTableHead", Nature.MARKER),
    NodeKind("NodeTableRow", Nature.MARKER),
    NodeKind("NodeTableCell", Nature.MARKER, ("TableCellAlign",)),
    NodeKind("NodeOpenBrace", Nature.MARKER),
    NodeKind("NodeCloseBrace", Nature.MARKER),
    NodeKind("NodeBlockQueryEmbedScript", Nature.MARKER),
    NodeKind("NodeBang", Nature.MARKER),
    NodeKind("NodeOpenBracket", Nature.MARKER),
    NodeKind("NodeCloseBracket", Nature.MARKER),
    NodeKind("NodeOpenParen", Nature.MARKER),
    NodeKind("NodeCloseParen", Nature.MARKER),
    NodeKind("NodeLinkText", Nature.MARKER),
    NodeKind("NodeLinkDest", Nature.MARKER),
    NodeKind("NodeLinkSpace", Nature.MARKER),
    NodeKind("NodeLinkTitle", Nature.MARKER),
    NodeKind("NodeEmojiImg", Nature.MARKER),
    NodeKind("NodeEmojiAlias", Nature.MARKER),
)
# Types of earlier versions and of other dialects: nothing of ours makes them, files that hold them keep them.
_OLD_BLOCK_NAMES: Final = "FootnotesDefBlock FootnotesDef ToC YamlFrontMatter GitConflict CustomBlock"
_OLD_PART_NAMES: Final = """
HeadingC8hMarker Emphasis EmA6kOpenMarker EmA6kCloseMarker EmU8eOpenMarker EmU8eCloseMarker Strong
StrongA6kOpenMarker StrongA6kCloseMarker StrongU8eOpenMarker StrongU8eCloseMarker CodeSpan CodeSpanOpenMarker
CodeSpanContent CodeSpanCloseMarker Link LinkRefDefBlock LinkRefDef Less Greater Strikethrough
Strikethrough1OpenMarker Strikethrough1CloseMarker Strikethrough2OpenMarker Strikethrough2CloseMarker
EmojiUnicode InlineMath InlineMathOpenMarker InlineMathContent InlineMathCloseMarker BackslashContent
FootnotesRef HeadingID YamlFrontMatterOpenMarker YamlFrontMatterContent YamlFrontMatterCloseMarker BlockRef
BlockRefID BlockRefSpace BlockRefText BlockRefDynamicText Mark Mark1OpenMarker Mark1CloseMarker
Mark2OpenMarker Mark2CloseMarker Tag TagOpenMarker TagCloseMarker Sup SupOpenMarker SupCloseMarker Sub
SubOpenMarker SubCloseMarker GitConflictOpenMarker GitConflictContent GitConflictCloseMarker Kbd KbdOpenMarker
KbdCloseMarker Underline UnderlineOpenMarker UnderlineCloseMarker FileAnnotationRefID FileAnnotationRefSpace
FileAnnotationRefText HTMLTag HTMLTagOpen HTMLTagClose
"""
_OLD_BLOCKS: Final = tuple(NodeKind(f"Node{name}", Nature.LEAF) for name in _OLD_BLOCK_NAMES.split())
_OLD_PARTS: Final = tuple(NodeKind(f"Node{name}", Nature.MARKER) for name in _OLD_PART_NAMES.split())

KINDS: Final[dict[str, NodeKind]] = {
    kind.type: kind for kind in (*_BLOCKS, *_INLINES, *_MARKERS, *_OLD_BLOCKS, *_OLD_PARTS)
}
BLOCK_TYPES: Final = frozenset(kind.type for kind in KINDS.values() if kind.is_block)
CONTAINER_TYPES: Final = frozenset(kind.type for kind in KINDS.values() if kind.is_container)
LEAF_TYPES: Final = frozenset(kind.type for kind in KINDS.values() if kind.is_leaf)
INLINE_TYPES: Final = frozenset(kind.type for kind in KINDS.values() if kind.is_inline)
MARKER_TYPES: Final = frozenset(kind.type for kind in KINDS.values() if kind.is_marker)
TYPE_OF_SQL: Final = {kind.sql_type: kind.type for kind in KINDS.values() if kind.sql_type}
