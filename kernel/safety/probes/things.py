"""Probes of databases, flashcards, templates, assets, snapshots and the plugin's own store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kernel.canonical import digest_bytes
from kernel.safety.digest import UNSEEN_NAMES
from kernel.safety.intent import Observation
from kernel.safety.limits import CARD_PAGES_MAX, CARDS_PER_PAGE
from kernel.safety.probes.reading import MISSING, Arguments, Reading, State, texts, unreadable
from kernel.safety.targets import observation

MASCOT_FILE: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/puppyStats.json"
_TEMPLATES: Final = "/data/templates/"
# Times, and what the host keeps of its own about a rendered view.
_AV_BOOKKEEPING: Final = UNSEEN_NAMES | {"createdAt", "updatedAt", "groupCreated"}


# --- databases ---


async def database(reading: Reading, arguments: Arguments) -> Observation:
    """Most av actions: the database as it is stored, and the block that shows it, if it is named."""
    state: State = {"database": await _database(reading, str(arguments["avID"]))}
    carrier = texts(arguments.get("blockID"))
    if carrier:
        state["carrier"] = await reading.blocks(carrier)
    return observation(arguments, state)


async def databases(reading: Reading, arguments: Arguments) -> Observation:
    """av actions that reach into others: the database, those its columns relate to, and the one that is named."""
    seen = await database(reading, arguments)
    own = seen.state["database"]
    related = _related(own) | set(texts(arguments.get("destinationAvID")))
    others = {name: await _database(reading, name) for name in sorted(related - {str(arguments["avID"])})}
    state = {**seen.state, "related": others}
    destination = texts(arguments.get("destinationBlockID"))
    if destination:
        state["destinationCarrier"] = await reading.blocks(destination)
    targets = tuple(sorted({*seen.target_ids, *others}))
    return Observation(state, targets, len(targets))


async def _database(reading: Reading, name: str) -> State:
    answer = await reading.call("/api/av/getAttributeView", id=name)
    if not isinstance(answer, dict) or "av" not in answer:
        raise unreadable("the database")
    found = answer["av"]
    return dict(MISSING) if found is None else {"av": _without_bookkeeping(found)}


def _without_bookkeeping(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_bookkeeping(item) for name, item in value.items() if name not in _AV_BOOKKEEPING}
    if isinstance(value, list):
        return [_without_bookkeeping(item) for item in value]
    return value


def _related(state: State) -> set[str]:
    found = set()
    for column in state.get("av", {}).get("keyValues") or ():
        relation = column.get("key", {}).get("relation")
        if isinstance(relation, dict) and isinstance(relation.get("avID"), str) and relation["avID"]:
            found.add(relation["avID"])
    return found


# --- flashcards ---


async def reviewed_card(reading: Reading, arguments: Arguments) -> Observation:
    """flashcard.review_card: the card, found on whichever page of its deck it stands."""
    wanted = str(arguments["cardID"])
    for page in range(1, CARD_PAGES_MAX + 1):
        answer = await reading.call(
            "/api/riff/getRiffCards", id=str(arguments["deckID"]), page=page, pageSize=CARDS_PER_PAGE
        )
        blocks = answer.get("blocks") if isinstance(answer, dict) else None
        if not isinstance(blocks, list):
            raise unreadable("the deck's cards")
        for block in blocks:
            if block.get("riffCardID") == wanted:
                return observation(arguments, _card(block))
        if len(blocks) < CARDS_PER_PAGE:
            return observation(arguments, dict(MISSING))
    raise unreadable("all pages of the deck")


async def cards_of_blocks(reading: Reading, arguments: Arguments) -> Observation:
    """flashcard.remove_card: the cards of the named blocks."""
    ids = texts(arguments.get("blockIDs"))
    answer = await reading.call("/api/riff/getRiffCardsByBlockIDs", blockIDs=ids)
    blocks = answer.get("blocks") if isinstance(answer, dict) else None
    cards = [_card(block) for block in blocks or () if block.get("riffCardID")]
    attributes = await reading.attributes([name for name, is_there in (await reading.exist(ids)).items() if is_there])
    decks = {name: found.get("custom-riff-decks") for name, found in attributes.items()}
    return observation(arguments, {"cards": sorted(cards, key=lambda card: str(card["cardID"])), "decks": decks})


def _card(block: Mapping[str, Any]) -> State:
    card = dict(block.get("riffCard") or {})
    # A new card's due time is the moment of asking; a reviewed card's is its state.
    if not card.get("reps"):
        card.pop("due", None)
    return {"cardID": block.get("riffCardID"), "blockID": block.get("id"), "card": card}


# --- files ---


async def template(reading: Reading, arguments: Arguments) -> Observation:
    """file.create_template with overwrite, update_template, delete_template: the template's bytes."""
    path = template_path(str(arguments["path"]))
    return observation(arguments, {"path": path, "template": await reading.file(path)})


async def template_of_document(reading: Reading, arguments: Arguments) -> Observation:
    """file.save_doc_as_template: the document, and the template of that name."""
    name = str(arguments["name"])
    path = template_path(name if name.endswith(".md") else name + ".md")
    state = {
        "document": await reading.block(str(arguments["id"])),
        "template": await reading.file(path),
    }
    return observation(arguments, state)


async def asset(reading: Reading, arguments: Arguments) -> Observation:
    """file.rename_asset, delete_asset: the asset's bytes."""
    path = str(arguments.get("oldPath") or arguments.get("path"))
    return observation(arguments, {"asset": await reading.file("/data/" + path.lstrip("/").removeprefix("data/"))})


async def unused_assets(reading: Reading, arguments: Arguments) -> Observation:
    """file.remove_unused_assets: exactly which files would go."""
    answer = await reading.call("/api/asset/getUnusedAssets")
    listed = answer.get("unusedAssets") if isinstance(answer, dict) else answer
    # The host walks a map: the order says nothing.
    names = sorted(str(entry.get("item") if isinstance(entry, dict) else entry) for entry in listed or ())
    return Observation({"assets": names}, tuple(names), len(names))


def template_path(path: str) -> str:
    """The workspace path of a template that is named relative to the templates folder, or in full."""
    plain = "/" + path.replace("\\", "/").lstrip("/")
    if plain.startswith(_TEMPLATES):
        return plain
    if _TEMPLATES in plain:
        return _TEMPLATES + plain.rpartition(_TEMPLATES)[2]
    return _TEMPLATES + plain.removeprefix("/templates/").lstrip("/")


# --- snapshots, mascot ---


async def snapshot(reading: Reading, arguments: Arguments) -> Observation:
    """timeline.delete_node: the tagged snapshot."""
    return observation(arguments, {"snapshots": await _tagged(reading, str(arguments["tag"]))})


async def rollback(reading: Reading, arguments: Arguments) -> Observation:
    """timeline.rollback_document, rollback_block: the document now, and the snapshot it would go back to."""
    state = {
        "document": await reading.block(str(arguments["documentId"])),
        "snapshots": await _tagged(reading, str(arguments["tag"])),
    }
    return observation(arguments, state)


async def mascot(reading: Reading, arguments: Arguments) -> Observation:
    """mascot.buy: the balance."""
    content = await reading.file_content(MASCOT_FILE)
    return observation(arguments, {"stats": None if content is None else digest_bytes(content)})


async def _tagged(reading: Reading, tag: str) -> list[State]:
    answer = await reading.call("/api/repo/getRepoTagSnapshots")
    snapshots = answer.get("snapshots") if isinstance(answer, dict) else None
    if snapshots is not None and not isinstance(snapshots, list):
        raise unreadable("the snapshots")
    return [
        {"id": entry.get("id"), "tag": entry.get("tag"), "memo": entry.get("memo")}
        for entry in snapshots or ()
        if tag in (entry.get("tag"), entry.get("id"))
    ]
