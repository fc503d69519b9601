"""Static roots: each group's own way to serve, list, miss and refuse (golden: surface-static-*, surface-traversal-*)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kernel.siyuan.statics import front_end
from kernel.wire import Headers, Request
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]
GROUPS = {
    "widgets": "data/widgets",
    "plugins": "data/plugins",
    "emojis": "data/emojis",
    "templates": "data/templates",
    "public": "data/public",
}


async def shelf(start: Start, folder: str, **options: object) -> World:
    world = await start(**options)
    world.write(f"{folder}/d/x.txt", "hello\n")
    world.write(f"{folder}/d/index.html", "<i>index</i>")
    world.write(f"{folder}/e/y.txt", "y")
    world.write(f"{folder}/.hidden", "h")
    return world


@pytest.mark.parametrize(("group", "folder"), GROUPS.items())
async def test_plain_groups(start: Start, group: str, folder: str) -> None:
    world = await shelf(start, folder)
    expected = {
        "/d/x.txt": (200, "hello\n", None),
        "//d/x.txt": (200, "hello\n", None),
        "/d/./x.txt": (200, "hello\n", None),
        "/d/%2e%2e/d/x.txt": (200, "hello\n", None),
        "/d/": (200, "<i>index</i>", None),
        "/d": (301, "", "d/"),
        "/d/index.html?a=1": (301, "", "./?a=1"),
        "/d/x.txt/": (301, "", "../x.txt"),
        "/nope": (404, "", None),
        "/../../conf/conf.json": (404, "", None),
        "/%00": (404, "", None),
    }
    for path, (status, text, location) in expected.items():
        reply = await world.get(f"/{group}{path}")
        assert (reply.status, reply.text, reply.headers.get("location")) == (status, text, location), path
    listed = await world.get(f"/{group}/e/")
    assert (listed.status, "y.txt" in listed.text) == (404, False)
    assert (await world.ask("HEAD", f"/{group}/d/x.txt")).headers["content-length"] == "6"
    assert (await world.post(f"/{group}/d/x.txt", "")).status == 404
    assert (await world.get(f"/{group}/d/x.txt", Range="bytes=0-1")).body == b"he"


async def test_only_the_public_group_needs_no_access(start: Start) -> None:
    world = await shelf(start, "data/public", access_code="s3cret")
    world.write("data/widgets/x", "w")
    assert (await world.get("/public/d/x.txt")).status == 200
    assert (await world.get("/widgets/x")).status == 401


async def test_history_lists_and_refuses_dots(start: Start) -> None:
    world = await shelf(start, "history")
    listed = await world.get("/history/")
    assert listed.status == 200
    assert '<a href=".hidden">.hidden</a>\n<a href="d/">d/</a>\n<a href="e/">e/</a>\n' in listed.text
    assert (await world.get("/history/d/x.txt/")).status == 200
    for path in ("/history/../conf/conf.json", "/history/%2e%2e/conf", "/history/..%5cconf", "/history/d/../d/x.txt"):
        reply = await world.get(path)
        assert (reply.status, reply.text) == (400, "invalid URL path\n")
    for path in ("/history/nope", "/history/%00", "/history/%252e%252e/conf", "/history/%2fetc%2fhostname"):
        reply = await world.get(path)
        assert (reply.status, reply.headers["content-length"]) == (404, "19")
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert (await world.get("/repo/diff/nope")).status == 404
    assert (await world.ask("HEAD", "/history/d/x.txt")).status == 404


async def test_assets_are_found_beside_documents_too(start: Start) -> None:
    world = await start()
    world.write("data/assets/a.txt", "top")
    world.write("data/assets/d/x.txt", "below")
    created = await world.post("/api/notebook/createNotebook", '{"name":"n"}')
    box = created.text.partition('"id":"')[2].partition('"')[0]
    world.write(f"data/{box}/assets/own.txt", "own")
    assert (await world.get("/assets/a.txt")).text == "top"
    assert (await world.get("/assets/own.txt")).text == "own"
    assert "x.txt" in (await world.get("/assets/d/")).text
    assert (await world.get("/assets/d")).headers["location"] == "d/"
    for path in ("/assets/", "/assets/../conf/conf.json", "/assets/..%2fconf.json"):
        assert (await world.get(path)).status == 403
    for path in ("/assets/nope", "/assets/%252e%252e/conf.json", "/assets//etc/hostname"):
        reply = await world.get(path)
        assert (reply.status, reply.body) == (404, b"")
    saved = await world.get("/assets/a.txt?download=TRUE")
    assert saved.headers["content-disposition"] == "attachment; filename=a.txt"


async def test_pictures_are_served_without_their_scripts(start: Start) -> None:
    world = await start()
    source = "<svg><script/></svg>"
    world.write("data/assets/s.svg", source)
    world.write("data/assets/bad.svg", "<svg")
    clean = await world.get("/assets/s.svg")
    assert (clean.text, clean.headers["x-content-type-options"]) == ("<svg></svg>", "nosniff")
    assert clean.headers["content-security-policy"].startswith("script-src 'none'")
    assert (await world.get("/assets/bad.svg")).status == 422
    world.kernel.workspace.conf.section("editor")["allowSVGScript"] = True
    assert (await world.get("/assets/s.svg")).text == source


async def test_exports_are_saved_and_stay_in_their_folder(start: Start) -> None:
    world = await start()
    world.write("temp/export/a b.txt", "x")
    world.write("temp/export/temp/t.txt", "t")
    world.write("temp/siyuan.db", "secret")
    saved = await world.get("/export/a%20b.txt")
    assert (saved.text, saved.headers["content-disposition"]) == ("x", 'attachment; filename="a b.txt"')
    assert (await world.get("/export/temp/t.txt")).text == "t"
    expected = {
        "/export/nope": 404,
        "/export/": 401,
        "/export/temp/nope": 404,
        "/export/../siyuan.db": 401,
        "/export/%2e%2e/siyuan.db": 401,
        "/export/temp/../../siyuan.db": 401,
        "/export/%00": 500,
    }
    for path, status in expected.items():
        assert (await world.get(path)).status == status, path


async def test_appearance_and_snippets(start: Start) -> None:
    world = await start()
    world.write("conf/appearance/themes/t/theme.css", "css")
    world.write("conf/conf-secret", "s")
    world.write("data/snippets/conf.json", '[{"name":"n","type":"css","content":"body{}"},5]')
    world.write("data/snippets/file.js", "js")
    assert (await world.get("/appearance/themes/t/theme.css")).text == "css"
    missing = await world.get("/appearance/themes/t/theme.js")
    assert (missing.status, missing.headers["content-type"], missing.body) == (200, "application/x-javascript", b"")
    assert (await world.get("/appearance/../conf-secret")).status == 401
    assert (await world.get("/appearance/nope")).status == 404
    style = await world.get("/snippets/n.css")
    assert (style.text, style.headers["content-type"]) == ("body{}", "text/css; charset=utf-8")
    assert (await world.get("/snippets/file.js")).text == "js"
    assert (await world.get("/snippets/nope.js")).status == 404
    assert (await world.get("/snippets/../storage/x")).status == 401
    assert (await world.get("/snippets/conf.json")).status == 200
    world.write("data/snippets/conf.json", "{broken")
    assert (await world.get("/snippets/n.css")).status == 404


@pytest.mark.parametrize(
    ("group", "folder"),
    {
        "appearance": "conf/appearance",
        "snippets": "data/snippets",
        "export": "temp/export",
        "export/temp": "temp/export/temp",
        "repo/diff": "temp/repo/diff",
    }.items(),
)
async def test_the_folder_of_a_group_is_not_listed(start: Start, group: str, folder: str) -> None:
    """As the kernel does: only what lies below it is a path of the group."""
    world = await shelf(start, folder)
    for path in ("", ".", "d/.."):
        assert (await world.get(f"/{group}/{path}")).status == 401, path
    assert (await world.get(f"/{group}/d/x.txt")).text == "hello\n"


@pytest.mark.parametrize(
    ("group", "expected"), [("appearance", 404), ("snippets", 404), ("export", 404), ("repo/diff", 401)]
)
async def test_a_name_that_begins_with_dots_climbs_nowhere(start: Start, group: str, expected: int) -> None:
    world = await shelf(start, "data/snippets")
    assert (await world.get(f"/{group}/....//conf.json")).status == expected


async def test_spaces_around_the_name_of_an_asset_do_not_count(start: Start) -> None:
    world = await shelf(start, "data/assets")
    assert (await world.get("/assets/d/x.txt%20")).text == "hello\n"


async def test_a_distribution_brings_its_front_end(start: Start, tmp_path: Path) -> None:
    (tmp_path / "stage" / "build").mkdir(parents=True)
    (tmp_path / "stage" / "icon.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 70_000)
    (tmp_path / "stage" / "build" / "index.html").write_text("front")
    (tmp_path / "secret").write_text("s")
    os.symlink(tmp_path / "secret", tmp_path / "stage" / "link")
    world = await start(working_dir=str(tmp_path))
    assert (await world.get("/stage/build/")).text == "front"
    assert (await world.get("/stage/link")).status == 404
    assert (await world.get("/stage/..%2fsecret")).status == 404
    icon = await world.get("/favicon.ico")
    assert (icon.headers["content-type"], len(icon.body)) == ("image/png", 70_008)
    bare = await start()
    assert (await bare.get("/stage/build/")).status == 404
    assert (await bare.get("/favicon.ico")).status == 404


async def test_a_distribution_brings_its_appearance_and_english_fills_up_the_other_languages(
    start: Start, tmp_path: Path
) -> None:
    langs, theme = tmp_path / "wd" / "appearance" / "langs", tmp_path / "wd" / "appearance" / "themes" / "daylight"
    langs.mkdir(parents=True)
    theme.mkdir(parents=True)
    (langs / "en.json").write_text('{"b": "B", "a": {"d": "<D>", "c": "C"}}')
    (langs / "fr.json").write_text('\ufeff{"b": "Bé", "z": "Z"}')
    (langs / "de.json").write_text("{broken")
    (theme / "theme.css").write_text("css")
    os.utime(theme / "theme.css", (1_700_000_000, 1_700_000_000))
    folder = str(tmp_path / "notes")
    world = await start(folder, working_dir=str(tmp_path / "wd"))
    style = await world.get("/appearance/themes/daylight/theme.css")
    assert (style.text, style.headers["last-modified"]) == ("css", "Tue, 14 Nov 2023 22:13:20 GMT")
    english = await world.get("/appearance/langs/en.json")
    assert (english.text[:3], english.headers["content-type"]) == ('{"b', "application/json")
    filled = '{"a":{"c":"C","d":"\\u003cD\\u003e"},"b":"B\u00e9","z":"Z"}'
    for path, expected in {
        "fr.json": filled,
        "de.json": filled.replace("Bé", "B").replace(',"z":"Z"', ""),
        "xx.json": filled.replace("Bé", "B").replace(',"z":"Z"', ""),
    }.items():
        reply = await world.get(f"/appearance/langs/{path}")
        assert (reply.status, reply.text) == (200, expected), path
        assert reply.headers["content-type"] == "application/json; charset=utf-8"
    changed = tmp_path / "notes" / "conf" / "appearance" / "themes" / "daylight" / "theme.css"
    changed.write_text("mine")
    again = await start(folder, working_dir=str(tmp_path / "wd"))
    assert (await again.get("/appearance/themes/daylight/theme.css")).text == "css"
    assert (await again.get("/appearance/langs/fr.json")).status == 200


@pytest.mark.parametrize(
    ("agent", "cookie", "expected"),
    [
        ("", "", "desktop"),
        ("curl/8", "", "desktop"),
        ("Mozilla/5.0 (iPhone) Mobile/15E148", "", "mobile"),
        ("Mozilla/5.0 (iPad; Mobile)", "", "desktop"),
        ("Mozilla/5.0 Electron/30", "", "app"),
        ("Mozilla/5.0 Electron/30", "siyuan-desktop-mode=true", "app"),
        ("Mozilla/5.0 Mobile", "siyuan-desktop-mode=true", "desktop"),
        ("Mozilla/5.0", "siyuan-desktop-mode=false", "mobile"),
        ("Mozilla/5.0", "siyuan-desktop-mode=maybe", "desktop"),
    ],
)
def test_the_front_end_fits_the_browser(agent: str, cookie: str, expected: str) -> None:
    request = Request("GET", "/", "/", "", Headers([("user-agent", agent), ("cookie", cookie)]))
    assert front_end(request) == f"/stage/build/{expected}/"


async def test_the_front_door_keeps_the_query(start: Start) -> None:
    reply = await (await start()).get("/?b=2&a=1")
    assert reply.status == 302
    assert reply.headers["location"].startswith("/stage/build/desktop/?a=1&b=2&r=")


async def test_the_sign_in_page_is_there_for_everybody(start: Start) -> None:
    reply = await (await start(access_code="s3cret")).get("/check-auth?to=%2F")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "/api/system/loginAuth" in reply.text
