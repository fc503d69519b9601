"""Read-backs that know what was asked for: every addition is looked for, plain text is compared (R81, decision 40)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kernel.host.embedded import EmbeddedHost
from kernel.safety.intent import Precondition
from kernel.safety.policy import Effect, Policy
from kernel.tools.handlers import HANDLERS
from kernel.tools.registry import ACTIONS
from tests.safety.test_whole import MD, Whole, named, open_whole

NOWHERE = "20260101000000-nowhere"
OPERATION = [{"doOperations": [{"action": "insert", "id": NOWHERE}]}]

# Action → its arguments (a capital name stands for the fixture's id), the host call that lies, and what it says.
ADDITIONS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "fs.write": ({"path": "/Box/New", "markdown": "one"}, "/api/filetree/createDocWithMd", NOWHERE),
    "notebook.create": ({"name": "x"}, "/api/notebook/createNotebook", {"notebook": {"id": NOWHERE, "name": "x"}}),
    "document.create": ({"notebook": "NB", "path": "/New"}, "/api/filetree/createDocWithMd", NOWHERE),
    "document.create_daily_note": ({"notebook": "NB"}, "/api/filetree/createDailyNote", {"id": NOWHERE}),
    "block.insert": ({"previousID": "P1", "dataType": MD, "data": "x"}, "/api/block/insertBlock", OPERATION),
    "block.prepend": ({"parentID": "D", "dataType": MD, "data": "x"}, "/api/block/prependBlock", OPERATION),
    "block.append": ({"parentID": "D", "dataType": MD, "data": "x"}, "/api/block/appendBlock", OPERATION),
    "block.add_to_daily_note": (
        {"notebook": "NB", "dataType": MD, "data": "x", "position": "append"},
        "/api/block/appendDailyNoteBlock",
        OPERATION,
    ),
    "av.render": ({"createIfNotExist": True, "blockID": "D"}, "/api/transactions", []),
    "timeline.create_node": ({"name": "v1", "scope": "global"}, "/api/repo/tagSnapshot", None),
    "flashcard.create_card": (
        {"deckID": "", "blockIDs": ["P1"]},
        "/api/riff/addRiffCards",
        {"id": "20230218211946-2kw8jgx", "size": 1},
    ),
}
# These two have stories of their own below and in test_promises.
ELSEWHERE = {"av.add_rows", "file.create_template"}


@asynccontextmanager
async def open_prepared(folder: Path) -> AsyncIterator[Whole]:
    """The fixture, with a repository that can keep snapshots."""
    async with open_whole(folder) as whole:
        await whole.host.call("/api/repo/initRepoKeyFromPassphrase", {"pass": "secret"})
        yield whole


def lie(monkeypatch: pytest.MonkeyPatch, path: str, told: Callable[[Any, Mapping[str, Any]], Any]) -> list[str]:
    """``path`` answers what ``told`` makes of it; the result is every path asked from now on."""
    original, asked = EmbeddedHost.call, []

    async def call(host: EmbeddedHost, asked_path: str, given: Mapping[str, Any] | None = None) -> Any:
        asked.append(asked_path)
        if asked_path != path:
            return await original(host, asked_path, given)
        changed = told(original, dict(given or {}))
        return (
            await original(host, path, changed["really"])
            if isinstance(changed, dict) and "really" in changed
            else changed
        )

    monkeypatch.setattr(EmbeddedHost, "call", call)
    return asked


def test_every_pure_addition_is_looked_for() -> None:
    """No action that needs no state may be told as committed without a look."""

    def adds(policy: Policy) -> bool:
        variant = policy.variant
        return (policy.effect is Effect.MUTATION and policy.precondition is Precondition.NONE) or (
            variant is not None and variant.effect is Effect.MUTATION and variant.precondition is Precondition.NONE
        )

    additions = {key for key, action in ACTIONS.items() if adds(action.policy)}
    assert additions == set(ADDITIONS) | ELSEWHERE
    assert [key for key in additions if HANDLERS[key].confirms is None] == []


@pytest.mark.parametrize("key", ADDITIONS)
async def test_an_addition_that_is_there_is_committed_without_the_index(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """R81; the look after the write asks for nothing that comes from the SQL index (decision 26)."""
    arguments, written, _ = ADDITIONS[key]
    async with open_prepared(fast_path) as whole:
        tool, action = key.split(".")
        answer = await whole.preflight(tool, action, **named(arguments, whole.names))
        asked = lie(monkeypatch, written, lambda _original, given: {"really": given})
        done, is_error = await whole.commit(tool, action, answer, **named(arguments, whole.names))
        assert not is_error, done
        assert done["safety"]["transactionState"] == "committed"
        looks = asked[asked.index(written) + 1 :]
        assert looks
        assert "/api/query/sql" not in looks


@pytest.mark.parametrize("key", ADDITIONS)
async def test_an_addition_that_is_not_there_is_a_mismatch(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """R81: the host says yes, and added nothing."""
    arguments, written, told = ADDITIONS[key]
    async with open_prepared(fast_path) as whole:
        tool, action = key.split(".")
        answer = await whole.preflight(tool, action, **named(arguments, whole.names))
        lie(monkeypatch, written, lambda _original, _given: told)
        said, is_error = await whole.commit(tool, action, answer, **named(arguments, whole.names))
        assert is_error, said
        assert said["error"]["code"] == "readback_mismatch"
        assert (said["writeAttempted"], said["transactionState"]) == (True, "unknown")


async def test_new_rows_that_vanish_before_the_look_are_a_mismatch(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R81 for av.add_rows: its own look sees them, and the read-back does not any more."""
    async with open_prepared(fast_path) as whole:
        made = await whole.write("av", "render", createIfNotExist=True, blockID=whole.names["D"])
        rows = {"avID": made["avID"], "blockIDs": [whole.names["P1"]]}
        assert (await whole.write("av", "add_rows", **rows))["added"] == 1
        rows["blockIDs"] = [whole.names["P2"]]
        answer = await whole.preflight("av", "add_rows", **rows)
        before = await whole.host.call("/api/av/getAttributeView", {"id": made["avID"]})
        original, seen = EmbeddedHost.call, []

        async def call(host: EmbeddedHost, path: str, given: Mapping[str, Any] | None = None) -> Any:
            found = await original(host, path, given)
            seen.append(path)
            looks = (
                [one for one in seen[seen.index("/api/transactions") :] if "getAttributeView" in one]
                if ("/api/transactions" in seen)
                else []
            )
            return before if path == "/api/av/getAttributeView" and len(looks) > 1 else found

        monkeypatch.setattr(EmbeddedHost, "call", call)
        said, _ = await whole.commit("av", "add_rows", answer, **rows)
        assert said["error"]["code"] == "readback_mismatch"


# Write → its arguments, the host call that alters the text, and where the text stands in its arguments.
ITEMS = [{"id": "P1", "dataType": MD, "data": "asked one"}, {"id": "P2", "dataType": MD, "data": "asked two"}]
TEXTS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "update": ("block.update", {"id": "P1", "dataType": MD, "data": "asked"}, "/api/block/updateBlock", "data"),
    "update of DOM": (
        "block.update",
        {
            "id": "P1",
            "dataType": "dom",
            "data": '<div data-type="NodeParagraph" class="p"><div contenteditable="true">asked</div></div>',
        },
        "/api/block/updateBlock",
        "data",
    ),
    "updates": ("block.update", {"items": ITEMS}, "/api/block/batchUpdateBlock", "blocks"),
    "replace": (
        "block.replace",
        {"id": "P2", "edit": {"old": "Beta", "new": "asked"}},
        "/api/block/updateBlock",
        "data",
    ),
    "insert": ("block.insert", {"previousID": "P1", "dataType": MD, "data": "asked"}, "/api/block/insertBlock", "data"),
    "inserts": (
        "block.insert",
        {"previousID": "P1", "blocks": [{"dataType": MD, "data": "a"}, {"dataType": MD, "data": "asked two"}]},
        "/api/block/batchInsertBlock",
        "blocks",
    ),
    "prepend": ("block.prepend", {"parentID": "D", "dataType": MD, "data": "asked"}, "/api/block/prependBlock", "data"),
    "append": ("block.append", {"parentID": "D", "dataType": MD, "data": "asked"}, "/api/block/appendBlock", "data"),
    "daily note": (
        "block.add_to_daily_note",
        {"notebook": "NB", "dataType": MD, "data": "asked", "position": "prepend"},
        "/api/block/prependDailyNoteBlock",
        "data",
    ),
    "new file": (
        "fs.write",
        {"path": "/Box/N", "markdown": "# N\n\nasked"},
        "/api/filetree/createDocWithMd",
        "markdown",
    ),
    "file": (
        "fs.write",
        {"path": "/Box/Other", "markdown": "asked", "overwrite": True},
        "/api/block/updateBlock",
        "data",
    ),
    "file, replaced": (
        "fs.replace",
        {"path": "/Box/Plan", "edit": {"old": "Beta", "new": "asked"}},
        "/api/block/updateBlock",
        "data",
    ),
    "document": (
        "document.create",
        {"notebook": "NB", "path": "/New", "markdown": "asked"},
        "/api/filetree/createDocWithMd",
        "markdown",
    ),
}


def altered(given: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments with another text than was asked for."""
    if name == "blocks":
        return {**given, name: [{**block, "dataType": MD, "data": "another"} for block in given[name]]}
    return {**given, **({"dataType": MD} if "dataType" in given else {}), name: "another"}


@pytest.mark.parametrize("key", TEXTS)
@pytest.mark.parametrize("is_honest", [True, False])
async def test_a_plain_paragraph_is_compared_with_what_was_asked(
    fast_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, is_honest: bool
) -> None:
    """Decision 40: something changed, the host says so, and it is not the text of the call."""
    written, arguments, path, name = TEXTS[key]
    tool, action = written.split(".")
    async with open_whole(fast_path) as whole:
        business = named(arguments, whole.names)
        answer = await whole.preflight(tool, action, **business)
        lie(monkeypatch, path, lambda _original, given: {"really": given if is_honest else altered(given, name)})
        said, is_error = await whole.commit(tool, action, answer, **business)
        if is_honest:
            assert said["safety"]["transactionState"] == "committed"
        else:
            assert is_error, said
            assert said["error"]["code"] == "readback_mismatch"


@pytest.mark.parametrize(
    "text",
    ["two  spaces", " around ", "中文English混排", "# a heading", "- a\n- b", "**strong** and ((x", "a\n\nb", ""],
)
async def test_what_the_kernel_makes_of_other_text_is_no_mismatch(fast_path: Path, text: str) -> None:
    """Decision 40: spacing, ids and whatever Markdown turns into."""
    async with open_whole(fast_path) as whole:
        update = {"id": whole.names["P1"], "dataType": MD, "data": text}
        done = await whole.write("block", "update", **update)
        assert done["safety"]["transactionState"] == "committed"


async def test_the_agents_memory_is_read_back_word_for_word(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to write the virtual file, with and without a credential; the settings file keeps another text."""
    async with open_whole(fast_path) as whole:
        for more in ({}, {"overwrite": True}):
            memory = {"path": "/AGENTS.md", "markdown": f"remember {len(more)}", **more}
            await whole.write("fs", "write", **memory)
        edit = {"path": "/AGENTS.md", "edit": {"old": "remember", "new": "forget"}}
        assert (await whole.write("fs", "replace", **edit))["safety"]["transactionState"] == "committed"
        original = EmbeddedHost.write_file

        async def write_file(host: EmbeddedHost, path: str, content: bytes) -> None:
            await original(host, path, content.replace(b"asked", b"other"))

        answer = await whole.preflight("fs", "write", path="/AGENTS.md", markdown="asked")
        monkeypatch.setattr(EmbeddedHost, "write_file", write_file)
        said, _ = await whole.commit("fs", "write", answer, path="/AGENTS.md", markdown="asked")
        assert said["error"]["code"] == "readback_mismatch"
