"""/api/notification and /api/ui: what the windows are told."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_a_message_pops_up_in_main_windows_and_has_an_id() -> None:
    world = MemoryKernel()
    shown = await world.call("notification/pushMsg", msg=" hello <script>x</script>", timeout=1000.9)
    [frame] = world.frames
    assert (frame["cmd"], frame["msg"], frame["code"]) == ("msg", "hello ", 0)
    assert frame["data"] == {"id": shown["id"], "closeTimeout": 1000}
    await world.call("notification/pushErrMsg", msg="bad")
    assert (world.frames[1]["code"], world.frames[1]["data"]["closeTimeout"]) == (-1, 7000)


async def test_a_message_must_be_there_and_its_time_a_number() -> None:
    world = MemoryKernel()
    assert await world.refusal("notification/pushMsg", msg="  ") == "Field [msg] must not be empty"
    assert await world.call("notification/pushMsg", msg="x", timeout="5") is None
    assert world.frames == []


@pytest.mark.parametrize(
    ("path", "arguments", "cmd"),
    [
        ("ui/reloadUI", {}, "reloadui"),
        ("ui/reloadTag", {}, "reloadTag"),
        ("ui/reloadIcon", {}, "setAppearance"),
        ("ui/reloadTheme", {}, "setAppearance"),
    ],
)
async def test_main_windows_are_told_to_draw_anew(path: str, arguments: dict[str, str], cmd: str) -> None:
    world = MemoryKernel()
    await world.call(path, **arguments)
    assert [frame["cmd"] for frame in world.frames] == [cmd]


@pytest.mark.parametrize(
    ("path", "arguments", "type", "told"),
    [
        ("ui/reloadProtyle", {"id": "x"}, "protyle", ("reload", "x")),
        ("ui/reloadAttributeView", {"id": "x"}, "protyle", ("refreshAttributeView", {"id": "x"})),
        ("ui/reloadFiletree", {}, "filetree", ("reloadFiletree", None)),
    ],
)
async def test_other_windows_are_told_what_concerns_them(
    path: str, arguments: dict[str, str], type: str, told: tuple[str, object]
) -> None:
    world = MemoryKernel()
    world.kernel.push.sessions[0].type = type
    await world.call(path, **arguments)
    assert [(frame["cmd"], frame["data"]) for frame in world.frames] == [told]


async def test_an_id_that_is_no_text_ends_in_silence() -> None:
    world = MemoryKernel()
    assert await world.call("ui/reloadProtyle", id=5) is None
    assert world.frames == []
