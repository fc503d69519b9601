"""[core] The rows of the small tools: tag, timeline, system, flashcard, extension, mascot, feedback. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.policy import ADDITIVE, EXTERNAL, MANIFEST, READ, STATE
from kernel.tools.registry.model import Problem, Tool, ToolTable
from kernel.tools.registry.rules import given, needs_when
from kernel.tools.registry.signature import record_of

# Which argument names the scope of flashcard.list_cards.
CARD_SCOPES: Final[dict[str, str | None]] = {"all": None, "deck": "deckID", "notebook": "notebook", "tree": "rootID"}


def _tag() -> Tool:
    tag = ToolTable("tag", "SiYuan Tags", "List, rename and remove tags across all notes.")
    tag.add(
        "list",
        READ,
        "List tags, or find some by keyword.",
        "keyword text; sort number; ignoreMaxListHint bool; app text; ~query text",
        tier="basic",
        aliases={"query": "keyword"},
    )
    tag.add("rename", MANIFEST, "Rename a tag everywhere.", "oldLabel* text; newLabel* text", tier="basic")
    tag.add("remove", MANIFEST, "Remove a tag everywhere.", "label* text", is_dangerous=True)
    return tag.done()


def _timeline() -> Tool:
    timeline = ToolTable(
        "timeline",
        "SiYuan History",
        "Keep named points of a document's or the workspace's history, compare with them, go back to them.",
    )
    needs_document = (needs_when("documentId", "scope", "document", "all"),)
    timeline.add(
        "list_nodes",
        READ,
        "List the points of history.",
        "scope* global|document|all; documentId text; page int 1.. = 1; pageSize int 1..100 = 50",
        tier="basic",
        eager_rules=needs_document,
    )
    timeline.add(
        "create_node",
        ADDITIVE,
        "Keep the present state under a name.",
        "name* text+; scope* global|document; documentId text",
        tier="basic",
        eager_rules=needs_document,
    )
    timeline.add(
        "compare_node",
        READ,
        "Compare a document with a point of history, block by block.",
        "documentId* text; tag* text+; page int 1.. = 1; pageSize int 1..100 = 20; includeUnchanged bool = false",
        tier="basic",
    )
    timeline.add(
        "compare_recent",
        READ,
        "Compare a document with the newest copy in the history.",
        "documentId* text; page int 1.. = 1; pageSize int 1..100 = 20",
    )
    off: dict[str, Any] = {"is_dangerous": True, "is_on": False}
    timeline.add(
        "delete_node", STATE, "Forget a point of history; its snapshot stays.", "tag* text+; documentId text", **off
    )
    timeline.add(
        "rollback_document", STATE, "Set a document back to a point of history.", "documentId* text; tag* text+", **off
    )
    timeline.add(
        "rollback_block",
        STATE,
        "Set one change of a document back.",
        "documentId* text; tag* text+; changeKey* text+",
        **off,
    )
    return timeline.done()


def _system() -> Tool:
    system = ToolTable(
        "system",
        "SiYuan System",
        "Ask for version, time, configuration, changes; notify the user; start a synchronisation.",
        "Secrets in the configuration are never shown.",
    )
    system.add("workspace_info", READ, "Say where the workspace lies on disk.", is_dangerous=True, is_on=False)
    system.add("network", READ, "Read the network proxy settings.")
    system.add(
        "conf",
        READ,
        "Read the kernel's configuration, piece by piece.",
        'mode summary|get = "summary"; keyPath text; maxDepth int 0..5; maxItems int 1..100',
        tier="basic",
    )
    system.add(
        "notify", EXTERNAL, "Show a message in the user's window.", "msg* text; level* info|error; timeout number"
    )
    system.add(
        "changelog",
        READ,
        "Say what changed between versions of this product.",
        "version text; fromVersion text; limit int 1..50 = 5; includeRaw bool = false",
        tier="basic",
    )
    system.add("perform_sync", EXTERNAL, "Start a synchronisation with the cloud.", is_dangerous=True)
    system.add("get_version", READ, "Read the kernel's version.", tier="basic")
    system.add("get_current_time", READ, "Read the kernel's clock.", tier="basic")
    return system.done()


def _only_the_scopes_argument(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    scope = str(arguments.get("scope"))
    wanted = CARD_SCOPES.get(scope)
    if wanted is not None and not given(arguments, wanted):
        yield Problem(wanted, f"Required for scope {scope}.")
    for name in CARD_SCOPES.values():
        if name is not None and name != wanted and given(arguments, name):
            yield Problem("", f"{name} does not belong to scope {scope}.")


def _rating_unless_skipped(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    if arguments.get("rating") is None and not arguments.get("skip"):
        yield Problem("rating", "Required unless skip is true.")


def _flashcard() -> Tool:
    flashcard = ToolTable("flashcard", "SiYuan Flashcards", "List, make, review and remove flashcards.")
    flashcard.named["reviewed"] = record_of("cardID* text") | {"additionalProperties": True}
    flashcard.add(
        "list_cards",
        READ,
        "List cards to review.",
        "scope* all|deck|notebook|tree; filter* due|new|old; deckID text; notebook text; rootID text; "
        "reviewedCards [@reviewed]",
        tier="basic",
        rules=(_only_the_scopes_argument,),
    )
    flashcard.add("get_decks", READ, "List decks.", tier="basic")
    flashcard.add(
        "get_cards",
        READ,
        "List a deck's cards.",
        "deckID* text; page int 1.. = 1; pageSize int 1..512 = 32",
        tier="basic",
    )
    flashcard.add(
        "review_card",
        STATE,
        "Record a review, or skip a card.",
        "deckID* text; cardID* text; rating number; skip bool; reviewedCards [@reviewed]",
        rules=(_rating_unless_skipped,),
        call_form="deckID, cardID, rating | skip",
    )
    flashcard.add(
        "create_card",
        ADDITIVE,
        "Make cards from blocks.",
        "deckID* text; blockIDs* [text]+; ~blockID text; ~mode full|attach",
        aliases={"blockID": "blockIDs"},
    )
    flashcard.add(
        "remove_card",
        STATE,
        "Remove the cards of blocks.",
        "deckID* text; blockIDs* [text]+; ~blockID text",
        is_dangerous=True,
        aliases={"blockID": "blockIDs"},
    )
    return flashcard.done()


def _extension() -> Tool:
    extension = ToolTable(
        "extension",
        "SiYuan Extension Tools",
        "Call tools that other plugins (and, if allowed, the kernel itself) offer; check a package before it is used.",
        "A foreign tool is called with its full official name as action and its own arguments under arguments.",
        "Foreign tools are outside the strict write guarantee.",
    )
    extension.named["package"] = record_of(
        "type* plugin|theme|icon|template|widget; manifest* object; files object"
    ) | {"additionalProperties": True}
    extension.named["runtime"] = record_of("appVersion text; backend text; frontend text") | {
        "additionalProperties": True
    }
    extension.add("list", READ, "List the foreign tools.", "refresh bool", tier="basic")
    extension.add(
        "validate_package",
        READ,
        "Check a package's manifest and files, without installing it.",
        "package* @package; runtime @runtime",
    )
    extension.add(
        "diagnose_plugin_mcp",
        READ,
        "Look whether a plugin's tools are registered.",
        "pluginName* text+; expectedToolNames [text+]; expectedState present|absent",
    )
    return extension.done()


def _mascot() -> Tool:
    mascot = ToolTable("mascot", "Sisyphus Mascot", "The mascot's balance and its little shop.")
    mascot.add("get_balance", READ, "Read the balance.", tier="basic")
    mascot.add("shop", READ, "List what can be bought.", tier="basic")
    mascot.add("buy", STATE, "Buy something for the mascot.", "item_id* text", tier="basic")
    return mascot.done()


def _feedback() -> Tool:
    feedback = ToolTable("feedback", "Sisyphus Feedback", "Tell the makers what went wrong.")
    feedback.add(
        "submit",
        EXTERNAL,
        "Hand in feedback, once its user has agreed.",
        'description* text 1..4000; impact text 0..1000; suggestion text 0..1000; agent text 0..200 = "无"; '
        "source text 0..100",
        tier="basic",
    )
    return feedback.done()


TAG: Final = _tag()
TIMELINE: Final = _timeline()
SYSTEM: Final = _system()
FLASHCARD: Final = _flashcard()
EXTENSION: Final = _extension()
MASCOT: Final = _mascot()
FEEDBACK: Final = _feedback()
