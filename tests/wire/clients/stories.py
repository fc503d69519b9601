"""What each program does: its packages and its steps. ``{box}``, ``{doc}``, ``{other}``, ``{block:…}`` are ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

MISSING: Final = "20200101000000-missing"


@dataclass(frozen=True)
class Step:
    """One command, tool or method; ``given`` are a tool's arguments, ``text`` goes to standard input."""

    title: str
    arguments: list[str]
    given: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Client:
    """A program from a package registry, pinned."""

    name: str
    packages: tuple[str, ...]
    steps: list[Step]
    command: str = ""


def _lines(*commands: str) -> list[Step]:
    return [Step(f"{number} {command}", command.split("|")) for number, command in enumerate(commands, 1)]


def _calls(*calls: tuple[str, dict[str, Any]]) -> list[Step]:
    return [Step(f"{number} {name}", [name], given) for number, (name, given) in enumerate(calls, 1)]


CLI: Final = Client(
    "siyuan-cli",
    ("siyuan-cli==1.11.0",),
    _lines(
        "--json|notebook|list",
        "list-notebooks",
        "--json|create|/Made|# Title\n\ntext",
        "create|/Made again|text|--notebook|{box}",
        "create|/Lost|text|--notebook|" + MISSING,
        "--json|read|/Plan",
        "read|/Nowhere",
        "read|--id|{doc}",
        "read|--id|" + MISSING,
        "tree",
        "--json|tree|{box}",
        "--json|search|Alpha",
        "search|nothing at all",
        "--json|sql|select id, content from blocks where content = 'Alpha tag'",
        "sql|select * from nowhere",
        "sql|delete from blocks",
        "--json|sql|--hpath-like|/Plan%",
        "--json|block|get|{block:Beta}",
        "--json|block|children|{doc}",
        "--json|block|append|{doc}|-c|appended",
        "--json|block|prepend|{doc}|-c|prepended",
        "--json|block|insert|--previous|{block:Beta}|-c|inserted",
        "--json|block|update|{block:Beta}|-c|changed",
        "block|update|" + MISSING + "|-c|changed",
        "--json|block|move|{block:changed}|--previous|{block:appended}",
        "--json|block|children|{doc}",
        "--json|block|breadcrumb|{block:changed}",
        "--json|block|siblings|{block:changed}",
        "--json|block|backlinks|{doc}",
        "block|ref|{doc}",
        "block|embed|{doc}",
        "--json|block|delete|{block:inserted}|--yes",
        "block|delete|" + MISSING + "|--yes",
        "--json|attr|set|{doc}|custom-mark|yes",
        "--json|attr|get|{doc}",
        "attr|get|" + MISSING,
        "--json|tag|list",
        "--json|tag|blocks|tag",
        "--json|tag|rename|tag|label",
        "--json|backlinks|get|{doc}",
        "--json|asset|upload|{folder}/picture.png",
        "--json|asset|list",
        "asset|upload|{folder}/none.png",
        "export|/Plan",
        "--json|export|--id|{doc}",
        "export|/Nowhere",
        "--json|export-resources|/data/{box}|--name|kept",
        "--json|doc|rename|Renamed|--id|{doc}",
        "--json|doc|get-path|{doc}",
        "--json|doc|get-path|{doc}|--storage",
        "--json|doc|outline|{doc}|--id",
        "--json|doc|move|{other}|--by-id|--to-notebook|{box}|--to-path|/",
        "--json|import|{folder}/note.md|--notebook|{box}",
        "--json|file|put|{folder}/note.md|/data/public/note.md",
        "--json|file|list|/data/public",
        "file|get|/data/public/note.md",
        "--json|file|remove|/data/public/note.md|--yes",
        "file|get|/data/public/note.md",
        "--json|template|render-sprig|{{ add 1 2 }}",
        "--json|notify|push|told",
        "--json|notify|push-err|told",
        "--json|daily-note|note|--notebook|{box}",
        "--json|stats",
        "--json|overview",
        "--json|config-get|appearance.lang",
        "--json|notebook|create|Second",
        "--json|notebook|rename|{box}|Called",
        "--json|notebook|conf|{box}",
        "--json|notebook|close|{box}",
        "--json|notebook|open|{box}",
        "--json|av|list",
        "delete|/Made|--yes",
        "delete|/Made|--yes",
        "--json|delete|x|--id|{other}|--yes",
        "--json|notebook|remove|{box}|--yes",
        "--json|notebook|list",
    ),
)

MCP_SERVERS: Final = (
    Client(
        "siyuan-mcp-server",
        ("siyuan-mcp-server==0.31.0",),
        _calls(
            ("find_notebooks", {}),
            ("find_documents", {"title": "Plan"}),
            ("search_blocks", {"query": "Alpha"}),
            ("get_block_content", {"block_id": "{doc}"}),
            ("get_block_content", {"block_id": MISSING}),
            ("get_blocks_content", {"block_ids": ["{block:Beta}", "{doc}"]}),
            (
                "execute_sql",
                {"query": "select id, type, content from blocks where root_id = '{doc}' order by sort, content, id"},
            ),
            ("execute_sql", {"query": "select nothing from nowhere"}),
            ("create_document", {"notebook_id": "{box}", "path": "/Made", "markdown": "# Made\n\ntext"}),
            ("create_document", {"notebook_id": MISSING, "path": "/Made", "markdown": "text"}),
            ("update_block", {"block_id": "{block:Beta}", "data": "changed", "data_type": "markdown"}),
            ("update_block", {"block_id": MISSING, "data": "changed", "data_type": "markdown"}),
            ("append_block", {"parent_id": "{doc}", "data": "appended", "data_type": "markdown"}),
            ("prepend_block", {"parent_id": "{doc}", "data": "prepended", "data_type": "markdown"}),
            ("insert_block", {"previous_id": "{block:changed}", "data": "inserted", "data_type": "markdown"}),
            ("move_block", {"block_id": "{block:changed}", "previous_id": "{block:appended}"}),
            ("delete_block", {"block_id": "{block:inserted}"}),
            ("delete_block", {"block_id": MISSING}),
            ("push_message", {"msg": "told"}),
            ("push_error_message", {"msg": "told"}),
            ("list_files", {"path": "/data/{box}/{doc}"}),
            ("list_files", {"path": "/data/nowhere"}),
            ("get_file", {"path": "/data/{box}/.siyuan/sort.json"}),
            ("get_file", {"path": "/data/none"}),
            ("list_history_entries", {}),
        ),
        "siyuan-mcp-server",
    ),
    Client(
        "siyuan-mcp",
        # Version 2 of the SDK has not what this server is built on.
        ("siyuan-mcp==0.1.2", "mcp<2"),
        _calls(
            ("sy-notebook", {}),
            ("sy-list", {"notebook": "Box"}),
            ("sy-list", {"notebook": "Nowhere"}),
            ("sy-save", {"content": "# Saved\n\ntext", "notebook": "Box"}),
            ("sy-read", {"id": "{doc}"}),
            ("sy-read", {"id": MISSING}),
            ("sy-find", {"query": "Alpha"}),
            ("sy-find", {"query": "Alpha", "mode": "ai"}),
            ("sy-delete", {"id": "{other}", "notebook": "Box"}),
            ("sy-delete", {"id": MISSING, "notebook": "Box"}),
            ("sy-list", {"notebook": "Box"}),
        ),
        "siyuan-mcp",
    ),
)

LIBRARY: Final = Client(
    "siyuan",
    ("siyuan==0.1.2", "requests"),
    _lines(
        "ls_note_books",
        "list_doc_by_path|{box}|/",
        "list_doc_by_path|{box}|/Nowhere",
        "upload_markdown|{box}|/Made|# Made",
        "upload_markdown|" + MISSING + "|/Made|text",
        "export_markdown|{doc}",
        "export_markdown|" + MISSING,
        "doc_outline|{doc}",
        "block_info|{block:Beta}",
        "block_info|" + MISSING,
        "upload_files|/assets/|picture.png",
        "upload_files|/assets/|none.png",
    ),
)

SCRIPTS: Final = Client(
    "zhi-siyuan-api",
    ("zhi-siyuan-api@2.35.5",),
    _lines(
        "lsNotebooks",
        'createNotebook|"Second"',
        'createDocWithMd|"{box}"|"/Zhi"|"# Zhi\\n\\ntext"',
        f'createDocWithMd|"{MISSING}"|"/Zhi"|"text"',
        'getRootBlocksCount|""',
        'getRootBlocks|0|10|"Plan"',
        'getBlockByID|"{doc}"',
        f'getBlockByID|"{MISSING}"',
        'getSubdocCount|"{doc}"',
        'exportMdContent|"{doc}"',
        f'exportMdContent|"{MISSING}"',
        'getDoc|"{doc}"',
        "sql|\"select id, content from blocks where content = 'Beta'\"",
        'sql|"select nothing from nowhere"',
        'getBlockKramdown|"{block:Beta}"',
        'updateBlock|"{block:Beta}"|"changed"',
        f'updateBlock|"{MISSING}"|"changed"',
        'setBlockAttrs|"{doc}"|{"custom-mark": "yes"}',
        'getBlockAttrs|"{doc}"',
        'getSingleBlockAttr|"{doc}"|"custom-mark"',
        'getSiblingDocs|"{box}"|"/"',
        'getChildDocs|"{box}"|"/{doc}.sy"',
        'getDocTree|"{box}"|"/"',
        'getOutline|"{doc}"',
        'saveTextData|"kept.json"|"[1]"',
        'getFile|"/data/storage/kept.json"|"json"',
        'isFileExists|"/data/none"|"text"',
        'getPublicFile|"/none"',
        'pushMsg|{"msg": "told", "timeout": 1}',
        'getNotebookConf|"{box}"',
        'renameNotebook|"{box}"|"Called"',
        'removeFile|"/data/storage/kept.json"',
        'removeDoc|"{box}"|"/{doc}/{other}.sy"',
        f'removeDoc|"{{box}}"|"/{MISSING}.sy"',
        'removeDoc|"{box}"|"/{doc}.sy"',
        'closeNotebook|"{box}"',
        'openNotebook|"{box}"',
        'removeNotebook|"{box}"',
    ),
)
