"""Skills: files with whole digests, behind a switch of their own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from kernel.tools import guides, skills
from kernel.tools.configuration import HTTP_FILE, read_configuration
from tests.tools.notes import CALLER, open_notes


def test_every_scenario_is_a_skill_whose_files_can_be_checked_by_their_whole_digest() -> None:
    rows = skills.entries()
    assert len(rows) == len(guides.PROMPTS)
    for row in rows:
        name = row["frontmatter"]["name"]
        assert row["uri"] == f"skill://{name}/SKILL.md"
        assert row["resources"][0]["uri"] == row["uri"]
        for file in row["resources"]:
            found = skills.read(file["uri"])
            assert found is not None
            text = found[0]["text"]
            assert file["digest"] == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
        head = skills.files()[row["uri"]].split("---")[1]
        assert head == f"\nname: {name}\ndescription: {row['frontmatter']['description']}\n"
        assert skills.entry(row["uri"]) == row
    assert skills.entry("skill://none/SKILL.md") is None
    assert skills.read("skill://none/SKILL.md") is None


def test_only_an_explicit_false_switches_skills_off() -> None:
    for value, served in ((False, False), (True, True), (None, True), ("no", True)):
        content = json.dumps({"skillsExtensionEnabled": value}).encode()
        assert read_configuration(None, content).serves_skills is served
    assert read_configuration(None, None).serves_skills


async def test_the_switch_takes_method_and_files_and_leaves_help(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        uri = "skill://siyuan-tidy/SKILL.md"

        async def uris() -> list[str]:
            return [row["uri"] for row in await notes.tools.list_resources(CALLER)]

        assert await notes.tools.list_skills(CALLER) == skills.entries()
        assert uri in await uris()
        assert await notes.tools.read_resource(uri, CALLER) is not None
        await notes.host.write_file(HTTP_FILE, json.dumps({"skillsExtensionEnabled": False}).encode())
        assert await notes.tools.list_skills(CALLER) is None
        assert not [one for one in await uris() if one.startswith("skill://")]
        assert await notes.tools.read_resource(uri, CALLER) is None
        assert await notes.tools.read_resource("siyuan://skills/tidy", CALLER) is not None
