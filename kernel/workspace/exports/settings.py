"""[core] How documents are exported: ``conf.export``, changed for one export by its caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kernel.workspace.render.export import ExportOptions

# What a caller may change for one export, and of which type it must be.
CHANGEABLE: Final[dict[str, type | tuple[type, ...]]] = {
    "addTitle": bool,
    "inlineMemo": bool,
    "blockRefMode": (int, float),
    "blockEmbedMode": (int, float),
    "fileAnnotationRefMode": (int, float),
    "blockRefTextLeft": str,
    "blockRefTextRight": str,
    "tagOpenMarker": str,
    "tagCloseMarker": str,
    "includeSubDocs": bool,
    "includeRelatedDocs": bool,
    "markdownYFM": bool,
    "removeAssetsID": bool,
}


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What one export does."""

    options: ExportOptions
    has_sub_documents: bool = True
    has_related_documents: bool = False
    has_front_matter: bool = False
    drops_asset_ids: bool = False

    @classmethod
    def of(cls, export: Mapping[str, Any], editor: Mapping[str, Any]) -> ExportSettings:
        """By the sections ``export`` and ``editor`` of the settings."""
        return cls(
            ExportOptions(
                ref_mode=int(export.get("blockRefMode", 4)),
                embed_mode=int(export.get("blockEmbedMode", 1)),
                heading_embed_mode=int(editor.get("headingEmbedMode", 0)),
                adds_title=bool(export.get("addTitle", True)),
                has_title_level=bool(export.get("addTitle", True)),
                keeps_memos=bool(export.get("inlineMemo", False)),
                annotation_mode=int(export.get("fileAnnotationRefMode", 0)),
                tag_markers=(str(export.get("tagOpenMarker", "#")), str(export.get("tagCloseMarker", "#"))),
                ref_brackets=(str(export.get("blockRefTextLeft", "")), str(export.get("blockRefTextRight", ""))),
            ),
            has_sub_documents=bool(export.get("includeSubDocs", True)),
            has_related_documents=bool(export.get("includeRelatedDocs", False)),
            has_front_matter=bool(export.get("markdownYFM", False)),
            drops_asset_ids=bool(export.get("removeAssetsID", False)),
        )
