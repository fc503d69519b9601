"""Which probe an action has. An action that is not here is a pure addition: it has no state to keep."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from kernel.safety.intent import Observation
from kernel.safety.probes import blocks, documents, notebooks, paths, things
from kernel.safety.probes.reading import Reading

Probe = Callable[[Reading, Mapping[str, Any]], Awaitable[Observation]]

_OF_TOOL: Final[dict[str, dict[Probe, str]]] = {
    "fs": {
        paths.path_documents: "write replace",
        paths.path_subtrees: "rm",
        paths.path_moves: "mv",
        paths.path_order: "reorder",
    },
    "notebook": {
        notebooks.notebook: "set_open_state rename set_conf set_icon",
        notebooks.notebook_with_documents: "remove",
        notebooks.notebook_permission: "set_permission",
    },
    "document": {
        documents.document_heads: "rename set_attr",
        documents.documents: "duplicate",
        documents.documents_with_subtrees: "remove",
        documents.document_moves: "move",
        documents.document_order: "reorder",
        documents.heading_to_document: "heading_to_doc",
        documents.document_to_heading: "doc_to_heading",
        documents.link_targets: "ensure_link_targets",
    },
    "block": {
        blocks.blocks: "update replace set_attrs set_fold_state",
        blocks.block_with_children: "delete",
        blocks.block_places: "move",
        blocks.references: "transfer_references",
    },
    "av": {
        things.database: "remove_rows add_column set_cells rename duplicate add_view set_filters set_sorts set_group"
        " set_column_visibility set_column_order set_new_item_templates",
        things.databases: "remove_column set_column_options duplicate_rows create_from_template"
        " configure_two_way_relation configure_rollup set_relation",
    },
    "file": {
        things.template: "create_template update_template delete_template",
        things.template_of_document: "save_doc_as_template",
        things.asset: "rename_asset delete_asset",
        things.unused_assets: "remove_unused_assets",
    },
    "search": {blocks.blocks: "find_replace"},
    "tag": {blocks.tagged_blocks: "rename remove"},
    "timeline": {things.snapshot: "delete_node", things.rollback: "rollback_document rollback_block"},
    "flashcard": {things.reviewed_card: "review_card", things.cards_of_blocks: "remove_card"},
    "mascot": {things.mascot: "buy"},
}

PROBES: Final[Mapping[tuple[str, str], Probe]] = MappingProxyType(
    {
        (tool, action): probe
        for tool, probes in _OF_TOOL.items()
        for probe, actions in probes.items()
        for action in actions.split()
    }
)
