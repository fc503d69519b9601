"""The story that SiYuan's own web interface tells in a browser: ``story.py URL BROWSER FOLDER``. Not a pytest file.

Runs where Playwright's client is installed (``run.py``). Prints one JSON object: for each step what the first window
shows, what the second one shows, what the kernel has, and which requests and pushes there were. Ids are numbered by
their first appearance, so that two kernels can be compared. ``FOLDER`` gets a picture per step.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request, Response, WebSocket, sync_playwright

PREFIX = "/stage/build/desktop/"
# The kernel counts references and reloads what a document shows up to some seconds later.
QUIET_S = 3.5
STEP_S_MAX = 90.0
# Frames that tell of progress: whether one comes depends on how long something takes.
PROGRESS = {"backgroundtask", "databaseIndexCommit", "statusbar", "progress", "cprogress", "setAppearance"}
# Shown only where an answer lets itself be waited for.
LOADING_PICTURE = "/stage/loading-pure.svg"
IDS = re.compile(r"\b\d{14}-[0-9a-z]{7}\b")
EVERY_TYPE = """# Heading one

## Heading two

A paragraph with **bold**, *slanted*, `code`, ~~gone~~, ==marked==, [a link](https://example.org), $x^2$ and #tag#.

- bullet

  - nested
- another

1. first
2. second

- [ ] open
- [x] done

> A quote

> [!NOTE]
> A callout

```python
print("code")
```

| a | b |
| --- | --- |
| 1 | 2 |

$$
a = b
$$

<div>some html</div>

---

{{{row
left

right
}}}

<iframe src="about:blank"></iframe>

<video controls="controls" src="assets/none.mp4"></video>

<audio controls="controls" src="assets/none.mp3"></audio>

![picture](/stage/icon.png)

{{ select * from blocks where content = 'Alpha' limit 1 }}

<div data-type="NodeAttributeView" data-av-id="20260101000000-abcdefg" data-av-type="table"></div>
"""
BLOCKS = """() => [...document.querySelectorAll(".layout__center .protyle:not(.fn__none) .protyle-wysiwyg [data-node-id]")]
  .map(one => [one.dataset.type, (one.dataset.subtype || ""),
    one.querySelector("[data-node-id]") ? "" : one.innerText.replace(/\\u200b/g, "").trim()])"""
TREE = """() => [...document.querySelectorAll(".sy__file li[data-type]")].map(one =>
  [one.dataset.type, (one.querySelector(".b3-list-item__text") || one).innerText.trim()])"""
EDITOR = ".layout__center .protyle:not(.fn__none) .protyle-wysiwyg"


def api(base: str, route: str, **body: Any) -> Any:
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{base}/api/{route}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked) as answer:
        said = json.load(answer)
    assert said["code"] == 0, (route, said)
    return said["data"]


class Window:
    """One browser window with what went over its wires since the last step."""

    def __init__(self, browser: Browser, base: str) -> None:
        self.base = base
        self.pushes: list[str] = []
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.in_flight = 0
        self.last = time.monotonic()
        context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
        self.page: Page = context.new_page()
        self.page.on("request", lambda _: self._moved(1))
        self.page.on("requestfinished", lambda _: self._moved(-1))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._answered)
        self.page.on("pageerror", lambda error: self.errors.append(str(error).splitlines()[0]))
        self.page.on("websocket", self._socket)

    def _moved(self, by: int) -> None:
        self.in_flight += by
        self.last = time.monotonic()

    def _failed(self, request: Request) -> None:
        self._moved(-1)

    def _answered(self, answer: Response) -> None:
        route = answer.url.removeprefix(self.base).split("?")[0]
        if route == LOADING_PICTURE:
            return
        said = f"{answer.request.method} {IDS.sub('ID', route)} {answer.status}"
        if "/api/" in route:
            said += f" {_code(answer)}"
        self.requests.append(said)

    def _socket(self, socket: WebSocket) -> None:
        kind = socket.url.rpartition("type=")[2]
        socket.on("framereceived", lambda frame: self._pushed(kind, frame))

    def _pushed(self, kind: str, frame: str | bytes) -> None:
        self.last = time.monotonic()
        cmd = str(json.loads(frame)["cmd"])
        if cmd not in PROGRESS:
            self.pushes.append(f"{kind}: {cmd}")

    def is_quiet(self) -> bool:
        return self.in_flight <= 0 and time.monotonic() - self.last > QUIET_S

    def blocks(self) -> Any:
        return self.page.evaluate(BLOCKS)


def _code(answer: Response) -> str:
    try:
        return str(answer.json()["code"])
    except Exception:  # a page that moves on takes the body with it
        return "?"


class Story:
    """The steps, each told with its traces."""

    def __init__(self, browser: Browser, base: str, folder: Path) -> None:
        self.base, self.folder = base, folder
        self.first, self.second = Window(browser, base), Window(browser, base)
        self.steps: list[dict[str, Any]] = []
        self.box, self.plan, self.every = prepare(base)

    def tell(self) -> list[dict[str, Any]]:
        self.step("boot", lambda: self._open(self.first, ""), TREE)
        self.step("every type", lambda: self._open(self.first, self.every))
        self.step("open", lambda: self._open(self.first, self.plan))
        self.step("second window", lambda: self._open(self.second, self.plan))
        for name, action in (
            ("type a paragraph", self._type_paragraph),
            ("make a list", self._make_list),
            ("move a block", self._move_block),
            ("rename", self._rename),
        ):
            self.step(name, action)
        self.step("search", self._search, SEARCHED)
        self.page.keyboard.press("Escape")
        self._click("Alpha")
        for times in ("once", "twice", "three times"):
            self.step(f"undo {times}", self._undo)
        self.step("redo", self._redo)
        return self.steps

    @property
    def page(self) -> Page:
        return self.first.page

    def step(self, name: str, action: Callable[[], Any], look: str = BLOCKS) -> None:
        action()
        self._wait_until_quiet()
        self.page.screenshot(path=str(self.folder / f"{len(self.steps):02} {name}.png"))
        told: dict[str, Any] = {"step": name, "shown": self.page.evaluate(look)}
        if self.second.page.url != "about:blank":
            told["second"] = self.second.blocks()
        told["kernel"] = self._kept()
        for title, window in (("first", self.first), ("second", self.second)):
            told[f"requests of the {title}"] = sorted(set(window.requests))
            told[f"pushes to the {title}"] = sorted(set(window.pushes))
            told[f"errors of the {title}"] = list(window.errors)
            window.requests.clear()
            window.pushes.clear()
            window.errors.clear()
        self.steps.append(told)

    def _kept(self) -> Any:
        rows = api(self.base, "block/getBlockKramdown", id=self.plan)["kramdown"]
        title = api(self.base, "filetree/getHPathByID", id=self.plan)
        return [title, *IDS.sub("ID", re.sub(r' updated="\d+"', "", rows)).splitlines()]

    def _wait_until_quiet(self) -> None:
        deadline = time.monotonic() + STEP_S_MAX
        while time.monotonic() < deadline:
            self.page.wait_for_timeout(200)
            if self.first.is_quiet() and self.second.is_quiet():
                return

    # --- what the user does ----------------------------------------------------------------------------------------
    def _open(self, window: Window, document: str) -> None:
        address = f"{self.base}{PREFIX}?id={document}" if document else f"{self.base}{PREFIX}"
        window.page.goto(address)
        window.page.wait_for_selector(".layout__center", timeout=STEP_S_MAX * 1000)
        if document:
            window.page.wait_for_selector(f"{EDITOR} [data-node-id]", timeout=STEP_S_MAX * 1000)

    def _click(self, text: str) -> None:
        self.page.locator(f"{EDITOR} [data-node-id] [contenteditable=true]", has_text=text).last.click()

    def _type_paragraph(self) -> None:
        self._click("Gamma")
        self.page.keyboard.press("End")
        self.page.keyboard.press("Enter")
        self.page.keyboard.type("Typed here", delay=20)

    def _make_list(self) -> None:
        self.page.keyboard.press("Enter")
        self.page.keyboard.type("* one", delay=40)
        self.page.wait_for_timeout(1000)
        self.page.keyboard.press("Enter")
        self.page.keyboard.type("two", delay=40)

    def _move_block(self) -> None:
        self._click("Gamma")
        self.page.keyboard.press("Control+Shift+ArrowUp")

    def _rename(self) -> None:
        self.page.locator(".layout__center .protyle:not(.fn__none) .protyle-title__input").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type("Renamed", delay=20)
        self.page.keyboard.press("Enter")

    def _search(self) -> None:
        self.page.keyboard.press("Control+p")
        # Without a word it lists what was changed lately, a moment later: who types sooner never asks for that.
        self._wait_until_quiet()
        self.page.locator("#searchInput").fill("Typed")

    def _undo(self) -> None:
        self.page.keyboard.press("Control+z")

    def _redo(self) -> None:
        self.page.keyboard.press("Control+y")


SEARCHED = """() => [...document.querySelectorAll('#searchList [data-type="search-item"]')].map(one =>
  one.querySelector(".b3-list-item__text").innerText.trim())"""


def prepare(base: str) -> tuple[str, str, str]:
    """A notebook, a plain document and one of every block type."""
    box = api(base, "notebook/createNotebook", name="Box")["notebook"]["id"]
    plan = api(base, "filetree/createDocWithMd", notebook=box, path="/Plan", markdown="Alpha\n\nBeta\n\nGamma")
    every = api(base, "filetree/createDocWithMd", notebook=box, path="/Every", markdown=EVERY_TYPE)
    return box, plan, every


def main() -> None:
    base, browser_path, folder = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        told = Story(browser, base, Path(folder)).tell()
        browser.close()
    print(json.dumps(told, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
