"""/api/export: documents as HTML, to be looked at, printed or saved (siyuan-api A9)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.markdown_export import MarkdownExport, export_settings
from kernel.workspace.render.preview import render_preview
from kernel.workspace.render.theme_colors import fill_colors

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_DARK: Final = 1
# Browsers that know the theme's variables themselves.
_KNOWS_VARIABLES: Final = re.compile(r"Chrome/|Edge?/|Electron|SiYuan/")
_MOBILE: Final = re.compile(r"Mobile|Android|iPhone|iPad")


async def preview(call: Call) -> Any:
    """A document or block as a page."""
    block_id = call.arguments.required_str("id")
    agent = call.headers.get("user-agent", "")
    fills_variables = bool(_MOBILE.search(agent)) or not _KNOWS_VARIABLES.search(agent)
    export = await MarkdownExport.of(call.kernel)
    found = export.found(block_id)
    html = ""
    if found is not None:
        document, node = found
        # A tag is always written with these marks: it is read again.
        settings = export_settings(call.kernel).options
        options = replace(settings, tag_markers=("#", "#"), adjusts_heading_level=True)
        tree = export.tree(document, node, options)
        if fills_variables:
            fill_colors(tree, is_dark=call.kernel.workspace.conf.section("appearance").get("mode") == _DARK)
        html = render_preview(tree, export.parsed, call.kernel.workspace.new_id)
    return {"html": html, "fillCSSVar": fills_variables}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/export/preview": preview,
}
