"""/api/lute: the Markdown engine on its own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.markdown_export import MarkdownExport, export_settings
from kernel.workspace.intake import context_of
from kernel.workspace.markdown.characters import CARET
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import dom_to_blocks
from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.render.page import render_page
from kernel.workspace.web_markdown import web_to_markdown

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_PREVIEW: Final = "protyle-preview"
_PAGE_MODES: Final = ("", _PREVIEW)
_CODE_OR_TAG: Final = re.compile(
    r"(```.*?```|`[^`\n]*`)|<(/?(?:b|i|u|s|em|strong|kbd|sub|sup|mark|del|code|span|a)(?:\s[^<>\n]*)?)>", re.DOTALL
)
# A caret behind a fence that was just typed belongs to the code, not to its language.
_CARET_IN_LANGUAGE: Final = re.compile(
    rf'(protyle-action__language" contenteditable="false">[^<{CARET}]*){CARET}(</span>.*?<div class="hljs"><div></div><div [^>]*>)',
    re.DOTALL,
)


def spin_block_dom(call: Call) -> Any:
    """Editor DOM with what was typed in it read as Markdown."""
    dom = call.arguments.required_str("dom", may_be_empty=True)
    context = replace(context_of(call.kernel.workspace), known_id=lambda _: True)
    try:
        blocks = dom_to_blocks(dom, context).blocks
        kramdown = "\n\n".join(render_kramdown(block, mode="textmark").rstrip("\n") for block in blocks)
        spun = render_dom(parse_markdown(kramdown, context=context), first_index=1, parsed=True)
    except MarkdownError:
        return None
    spun = _CARET_IN_LANGUAGE.sub(rf"\1\2{CARET}", spun)
    return {"dom": spun.replace(CARET, "<wbr>")}


def html_to_block_dom(call: Call) -> Any:
    """Editor DOM of what is pasted from the web."""
    markdown = web_to_markdown(call.arguments.required_str("dom", may_be_empty=True))
    if not markdown:
        return ""
    context = context_of(call.kernel.workspace)
    try:
        return render_dom(parse_markdown(markdown, context=context), first_index=1, parsed=True)
    except MarkdownError:
        return "Failed to convert"


def markdown_to_html(call: Call) -> Any:
    """Markdown as a plain page."""
    markdown = call.arguments.required_str("markdown", may_be_empty=True)
    mode = call.arguments.optional_str("mode")
    if mode not in _PAGE_MODES:
        raise ApiError("unknown [mode]")
    try:
        blocks = parse_markdown(_with_literal_tags(markdown), context=context_of(call.kernel.workspace))
    except MarkdownError:
        return {"html": ""}
    return {"html": render_page(blocks, is_preview=mode == _PREVIEW)}


def _with_literal_tags(markdown: str) -> str:
    """Inline elements mean nothing to a plain page: they are shown as they are typed."""
    return _CODE_OR_TAG.sub(lambda found: found[1] or f"\\<{found[2]}>", markdown)


async def copy_std_markdown(call: Call) -> Any:
    """A block or document as Markdown for other programs, without front matter."""
    block_id = call.arguments.raw_str("id")
    flags = {
        name: call.arguments.raw_bool(name)
        for name in ("assetsDestSpace2Underscore", "fillCSSVar", "adjustHeadingLevel", "imgTag")
        if call.arguments.get(name) is not None
    }
    options = replace(
        export_settings(call.kernel).options,
        has_image_tags=flags.get("imgTag", False),
        adjusts_heading_level=flags.get("adjustHeadingLevel", False),
    )
    return (await MarkdownExport.of(call.kernel)).copied(block_id, options)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/lute/spinBlockDOM": spin_block_dom,
    "/api/lute/copyStdMarkdown": copy_std_markdown,
    "/api/lute/html2BlockDOM": html_to_block_dom,
    "/api/lute/md2html": markdown_to_html,
}
