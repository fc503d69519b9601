"""[core] The tools of the official endpoint as tools/list shows them (siyuan-api F2). The descriptions are our own.

A line names a tool and its properties, ``!`` in front of those that are required. A property is a text unless a letter
says otherwise (``:n`` number, ``:i`` integer, ``:b`` boolean, ``:o`` object); ``=a|b`` lists its values.
"""

from __future__ import annotations

from typing import Any, Final

_KINDS: Final = {"n": "number", "i": "integer", "b": "boolean", "o": "object"}
_TOOLS: Final = """
asset !action=upload|unused|clean|stat files id path
attr !action=get|set|batch-get attrs:o id ids
block !action=get|get_kramdown|get_children|tree_stat|dom|insert|append|prepend|update|delete|move|breadcrumb|batch_get|batch_kramdown data dataType=markdown|dom id ids nextID parentID previousID
bookmark !action=list|labels|remove|rename label new old
dailynote !action=create|append|prepend data dataType=markdown|dom !notebook
database !action=search|get|render|keys|key_add|key_remove|item_add|item_remove|item_update|unused|clean blockID content detached:b groupID icon id ignoreDefaultFill:b itemID itemIDs keyID keyword name page:n pageSize:n prev previousID query removeRelationDest:b type value viewID
document !action=get|create|list|delete|rename|move|duplicate|search_docs|info id keyword markdown notebook path title
export !action=md|html|preview|docx|sy|md-zip|data id output
file !action=list|read|write|delete|rename|copy|grep|find|stat context:n data dst include limit:n new offset:n old path pattern src
frontend !action id query
history !action=list|search|get|rollback|clear notebook op page:n path query type:n
http_request action=get|post|put|delete|patch body headers:o !url
image !action=list|analyze|generate assetPath detail=auto|low|high !documentID outputFormat=png|jpeg|webp prompt quality question size
import !action=md|sy|data notebook path targetPath
inbox !action=list|get|convert id ids notebook page:i path remove_after:b
notebook !action=list|open|close|create|rename|remove|set_icon|random_icon icon id name
outline !action=get !id
question
ref !action=backlinks|mentions|refresh !id keyword sort:n
repo !action=list|create|tag|untag|checkout|diff|search|purge|file_get|file_rollback|file_open|file_export id keyword left memo name page:n right tag:b
search !action=fulltext|semantic|asset|getasset ext groupBy:n method:n notebook orderBy:n page:n pageSize:n path query subtype type
skill !action=load|save|install|remove|rename|list content name new_name url
sql !action=query !stmt
sync !action=perform|upload|download|status
system !action=version|current_time|workspace
tag !action=list|rename|remove keyword label new old
template !action=search|get|remove|render|save_as|create content id keyword name overwrite:b path
todo_write
unzip !destPath !zipPath
web_fetch format=markdown|text !url
web_search !query
workspace !action=list|info
"""
_DESCRIPTIONS: Final = {
    "asset": "Take files in as assets, look at them, find and remove unused ones.",
    "attr": "Read and set attributes of blocks.",
    "block": "Read and change single blocks.",
    "bookmark": "Bookmarks: list, rename, remove.",
    "dailynote": "Today's note of a notebook: make it, add blocks to it.",
    "database": "Databases (attribute views): read, fields, rows, cells.",
    "document": "Documents: read, list, create, move, rename, remove.",
    "export": "A document in another format, or a copy of all data.",
    "file": "Files of the workspace by their path.",
    "frontend": "Actions of the user interface, for its own chat only.",
    "history": "Earlier versions of documents.",
    "http_request": "One HTTP request to a public address.",
    "image": "Images of a document: list, look at, make.",
    "import": "Documents from files of this machine.",
    "inbox": "The cloud inbox: list, read, turn into documents.",
    "notebook": "Notebooks: list, open, close, create, rename, remove, icons.",
    "outline": "The headings of a document.",
    "question": "Ask the user, in the kernel's own chat only.",
    "ref": "What refers to a block, and what mentions it.",
    "repo": "Snapshots of the data.",
    "search": "Search blocks and the contents of assets.",
    "skill": "Instructions kept for the kernel's own agent.",
    "sql": "One reading SQL statement over the index.",
    "sync": "Synchronisation with the cloud.",
    "system": "Version, time and workspace of the kernel.",
    "tag": "Tags: list, rename, remove.",
    "template": "Templates: find, read, render, save, remove.",
    "todo_write": "Replace the task list of one session of the kernel's own agent.",
    "unzip": "Unpack a ZIP file of the workspace.",
    "web_fetch": "The text of one public page.",
    "web_search": "Search the web.",
    "workspace": "The workspaces of this machine.",
}
_PROPERTY_DESCRIPTIONS: Final = {
    "action": "What to do",
    "id": "Id of the block, document or other thing that is meant",
    "ids": "Ids, separated by commas",
    "path": "Path; see the tool for what it starts from",
    "page": "Page, the first is 1",
    "dataType": "What data is",
    "data": "Content",
}
_TITLES: Final = {"image": "Document images"}
_SCOPES: Final = {
    "http_request": "external",
    "image": "mixed",
    "search": "local",
    "skill": "local",
    "sql": "local",
}
# The choices of this tool explain themselves.
_UNDESCRIBED: Final = frozenset({("image", "action"), ("image", "detail"), ("image", "outputFormat")})
_QUESTIONS: Final[dict[str, Any]] = {
    "type": "array",
    "description": "The questions",
    "items": {
        "type": "object",
        "properties": {
            "custom": {"type": "boolean", "description": "Whether an answer of one's own is allowed"},
            "header": {"type": "string", "description": "Short heading"},
            "multiple": {"type": "boolean", "description": "Whether several options may be chosen"},
            "options": {
                "type": "array",
                "description": "What can be chosen",
                "items": {
                    "type": "object",
                    "properties": {
                        "description": {"type": "string", "description": "What the option means"},
                        "label": {"type": "string", "description": "Text of the option"},
                    },
                    "required": ["label", "description"],
                },
            },
            "question": {"type": "string", "description": "The question"},
        },
        "required": ["header", "question", "options"],
    },
}
_TODOS: Final[dict[str, Any]] = {
    "type": "array",
    "description": "The whole list",
    "items": {
        "type": "object",
        "properties": {
            "content": {"type": "string", "description": "The task"},
            "status": {
                "type": "string",
                "description": "Where it stands",
                "enum": ["pending", "in_progress", "completed", "cancelled"],
            },
        },
        "required": ["content", "status"],
    },
}
_WHOLE_SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "question": {"type": "object", "properties": {"questions": _QUESTIONS}, "required": ["questions"]},
    "todo_write": {"type": "object", "properties": {"todos": _TODOS}, "required": ["todos"]},
}
# The order in which required properties are named is not that of the alphabet everywhere.
_REQUIRED: Final = {"unzip": ["zipPath", "destPath"]}


def native_tools() -> list[dict[str, Any]]:
    """All native tools by name, as tools/list shows them."""
    return [_tool(line) for line in _TOOLS.strip().splitlines()]


def _tool(line: str) -> dict[str, Any]:
    name, *words = line.split()
    tool: dict[str, Any] = {"name": name}
    if name in _TITLES:
        tool["title"] = _TITLES[name]
    tool["description"] = _DESCRIPTIONS[name]
    tool["inputSchema"] = _WHOLE_SCHEMAS.get(name) or _schema(name, words)
    tool["source"] = "native"
    if name in _SCOPES:
        tool["effectScope"] = _SCOPES[name]
    return tool


def _schema(tool: str, words: list[str]) -> dict[str, Any]:
    properties = {}
    required = []
    for word in words:
        spec, _, values = word.partition("=")
        name, _, kind = spec.removeprefix("!").partition(":")
        shown: dict[str, Any] = {"type": _KINDS.get(kind, "string")}
        if (tool, name) not in _UNDESCRIBED:
            shown["description"] = _PROPERTY_DESCRIPTIONS.get(name) or f"{name} (see the tool)"
        if values:
            shown["enum"] = values.split("|")
        properties[name] = shown
        if spec.startswith("!"):
            required.append(name)
    return {"type": "object", "properties": properties, "required": _REQUIRED.get(tool, required)}
