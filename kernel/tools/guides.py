"""Our own texts: what the help resources, the prompts and the server's instructions say. Does no I/O."""

from __future__ import annotations

from typing import Final

OVERVIEW_HEAD: Final = """# The tools

Every tool takes `action` and the action's own arguments. `action="help"` lists a tool's actions, `topic=<action>`
explains one. Dangerous actions are marked `*`: ask the user before you call them.
"""

PATHS: Final = """# Paths and ids

- **Human-readable path** (`fs`, `document.create`, `hpath`): `/Notebook/Document/Child` in `fs`, without the notebook
  elsewhere. Titles may repeat, so such a path can be ambiguous; then use an id.
- **Storage path** (`path` in most `document` actions): `/20240101120000-abcdefg.sy`, below a parent
  `/20240101120000-abcdefg/20240101120500-hijklmn.sy`. It never changes with the title.
- **Id**: fourteen digits, a dash, seven characters. Every block has one; a document's id is its block's id.
- `document.lookup` translates between all three.
"""

EXAMPLES: Final = """# Examples

Read a note, then change one sentence:

1. `fs(action="read", path="/Work/Plan")`
2. `fs(action="replace", path="/Work/Plan", edit={"old": "Monday", "new": "Tuesday"}, validateOnly=true)`
3. the same call without `validateOnly`, with the `requestId` and `expectedManifestHash` it returned

Find and follow a reference:

1. `search(action="fulltext", query="budget")`
2. `block(action="get_kramdown", id="<id of a hit>")`
3. `search(action="get_backlinks", id="<id>")`

Add to today's note:

1. `block(action="add_to_daily_note", notebook="<id>", dataType="markdown", data="* called Ann", position="append",
   validateOnly=true)`
2. the same with the `requestId` it returned
"""

LAYOUT: Final = """# Writing notes that stay pleasant

- One thought to a paragraph; headings in order, without skipping levels.
- Lists for things that are alike, tables for things with the same properties, databases for things that change.
- `((id 'anchor'))` makes a reference that shows up as a backlink; a link to `siyuan://blocks/<id>` does not.
- `#tag#` with a hash on both sides is a tag; `# ` at the start of a line is a heading.
- Change the smallest block that says it: references and attributes of its neighbours stay as they are.
- Do not repeat a document's title as its first heading.
"""

WRITE_SAFETY: Final = """# Strict safe writes

Actions that change notes are called twice.

1. **Preflight**: the business arguments and `validateOnly: true`. Nothing is written. The answer holds a `requestId`
   and, where the action replaces something, a credential under the name that `preconditionField` gives.
2. **Commit**: the same arguments without `validateOnly`, with both values copied exactly.

The credential is good for ten minutes and for this call only. If the target changed meanwhile, the commit answers
`state_changed` and writes nothing: read again and decide anew. If an answer was lost, repeat the *same* `requestId`:
what was done is not done twice. `outcome_unknown` and `readback_mismatch` mean: look at the target before anything else.

External actions (exports, notifications, synchronisation, feedback, foreign tools) cannot be checked this way. They
take neither `validateOnly` nor hashes, are sent once, and say `writeSafetyGuaranteed: false`.
"""

CHANGELOG: Final = """# What changed

## 0.1.0

- First release: the note kernel, 14 tools with 143 actions, strict safe writes, both MCP eras.
"""

WORKING_RULES: Final = (
    "These tools read and change the user's notes. Read before you write, change the smallest part that needs it, and "
    "ask the user before dangerous actions (marked * in a tool's list)."
)
STRICT_RULE: Final = (
    "Strict safe writes are on: call a changing action first with validateOnly:true, then again with the requestId and "
    "the credential it returned. External actions (feedback among them) take neither."
)
SYNTAX: Final = (
    "Markdown of notes: ((id 'anchor')) is a reference, {{SELECT …}} an embedded query, #tag# a tag, "
    '{: name="value"} attributes of the block above.'
)
POINTERS: Final = 'More: action="help" of each tool, and the resources siyuan://help/….'
MEMORY_MISSING: Final = "Agents' memory: none yet. Keep what later sessions need with fs.write of /AGENTS.md."
MEMORY_STALE: Final = "Agents' memory (/AGENTS.md) is older than seven days: check it before you rely on it."
MEMORY_FRESH: Final = "Agents' memory (/AGENTS.md):"
RULES_HEAD: Final = "The user's own rules (/USER_RULES.md), which come first:"

# Scenarios: name → (title, what the prompt asks for).
PROMPTS: Final[dict[str, tuple[str, str]]] = {
    "daily_review": (
        "Review the day",
        "Go through today's daily note and the blocks that changed last. Summarise what was done, what is open, and "
        "what should be remembered. Change nothing unless asked to.",
    ),
    "capture": (
        "Capture a thought",
        "Put the given text into today's daily note, as short blocks, with tags and references to notes that exist.",
    ),
    "find": (
        "Find something",
        "Search by keyword first, then by meaning if nothing fits, follow references, and answer with the paths and "
        "ids of what you found.",
    ),
    "summarise": (
        "Summarise a note",
        "Read the whole note window by window and give its outline, its main points and its open questions.",
    ),
    "tidy": (
        "Tidy a note",
        "Read the note, propose a better structure, and after the user agrees change it block by block, so that "
        "references and attributes stay.",
    ),
    "link": (
        "Connect notes",
        "Find mentions of existing notes that are not yet references, propose them, and after the user agrees turn "
        "them into references.",
    ),
    "tags": (
        "Put tags in order",
        "List the tags, find near duplicates and unused ones, propose renames, and carry out those the user accepts.",
    ),
    "database": (
        "Work with a database",
        "Render the database, explain its columns, and add or change rows as asked, reading each cell back.",
    ),
    "template": (
        "Make a template",
        "Turn a note into a reusable template: find what varies, replace it by template fields, save and render it.",
    ),
    "cards": (
        "Make flashcards",
        "Find facts worth remembering in the note, propose questions, and make cards from the blocks the user picks.",
    ),
    "history": (
        "Look into the past",
        "Compare the note with an earlier point of its history, explain what changed, and go back only if asked to.",
    ),
    "migrate": (
        "Bring notes in",
        "Bring the given Markdown into the notebook: documents by heading, links as references, assets uploaded first.",
    ),
}
PROMPT_PREFIX: Final = "siyuan_"
