"""[core] Settings as the kernel starts with them: what is stored, completed, and back within its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.workspace import conf_shapes as shapes
from kernel.workspace.conf_ai import AI, complete_ai
from kernel.workspace.conf_defaults import CONF, FSRS_WEIGHTS, PLANTUML, SECTIONS, fresh, languages
from kernel.workspace.go_struct import Mismatch, read, zero

if TYPE_CHECKING:
    from collections.abc import Callable

_FSRS_WEIGHT_COUNT: Final = 19


def stored_conf(given: Any) -> dict[str, Any]:
    """What a stored conf.json says; what does not fit is as if it had not been stored."""
    start = zero(CONF)
    start["logLevel"] = "debug"
    try:
        values: dict[str, Any] = read(CONF, given, start)
    except Mismatch as mismatch:
        values = mismatch.value
    return values


def complete(values: dict[str, Any], new_id: Callable[[], str], new_uuid: Callable[[], str]) -> None:
    """Fill in what is missing and bring what is out of bounds back, in place, as at every start of the kernel."""
    for name in SECTIONS:
        if values[name] is None and name != "ai":
            values[name] = fresh(name)
    values["langs"] = languages()
    values["lang"] = next((one["name"] for one in values["langs"] if one["name"] == values["lang"]), "en")
    values["dataIndexState"] = 0
    for name in ("uiLayout", "keymap"):
        values[name] = values[name] or {}
    _complete_appearance(values["appearance"], values["lang"])
    _complete_file_tree(values["fileTree"])
    _complete_editor(values["editor"])
    if values["export"]["blockRefMode"] in (0, 1, 5):
        values["export"]["blockRefMode"] = 4
    if values["graph"]["local"] is None or values["graph"]["global"] is None:
        values["graph"] = fresh("graph")
    _complete_sync(values["sync"])
    _complete_repo(values["repo"])
    _complete_search(values["search"])
    _complete_flashcard(values["flashcard"])
    if values["ai"] is None:
        values["ai"] = zero(AI)
    complete_ai(values["ai"], new_id, new_uuid)


def complete_appearance(appearance: dict[str, Any]) -> None:
    """Parts that are missing get their first values."""
    if appearance["notifications"] is None:
        appearance["notifications"] = dict.fromkeys(shapes.NOTIFICATIONS.fields, True)


def _complete_appearance(appearance: dict[str, Any], lang: str) -> None:
    appearance["lang"] = lang
    if appearance["statusBar"] is None:
        appearance["statusBar"] = zero(shapes.STATUS_BAR)
    complete_appearance(appearance)
    appearance["codeBlockThemeDark"] = appearance["codeBlockThemeDark"] or "dracula"
    appearance["codeBlockThemeLight"] = appearance["codeBlockThemeLight"] or "github"


def within(value: float, low: float, instead: float, high: float | None = None) -> Any:
    """``value`` in its bounds: ``instead`` where it is too low, ``high`` where it is too high."""
    if value < low:
        return instead
    return value if high is None or value <= high else high


def bound_tree_counts(tree: dict[str, Any]) -> None:
    """The two counts that are also kept within bounds when they are set."""
    tree["maxOpenTabCount"] = within(tree["maxOpenTabCount"], 1, 8, 32)
    tree["recentDocsMaxListCount"] = within(tree["recentDocsMaxListCount"], 32, 32, 256)


def without_blanks(path: str) -> str:
    """A path whose parts have no blanks around them."""
    return "/".join(part.strip() for part in path.split("/"))


def _complete_file_tree(tree: dict[str, Any]) -> None:
    tree["maxListCount"] = within(tree["maxListCount"], 1, 512)
    tree["largeFileWarningSize"] = within(tree["largeFileWarningSize"], 2, 8)
    bound_tree_counts(tree)
    for name in ("docCreateSavePath", "refCreateSavePath", "shorthandSavePath"):
        tree[name] = without_blanks(tree[name])
    if tree["createDocAtTop"] is None:
        tree["createDocAtTop"] = True
    if tree["boxDocEnabled"] is None:
        tree["boxDocEnabled"] = False


def bound_editor(editor: dict[str, Any]) -> None:
    """What is also kept within bounds when the editor's settings are set."""
    editor["plantUMLServePath"] = editor["plantUMLServePath"] or PLANTUML
    editor["historyRetentionDays"] = within(editor["historyRetentionDays"], 1, 30, 3650)
    delay = editor["floatWindowDelay"]
    editor["floatWindowDelay"] = 620 if delay is None else max(0, min(2000, delay))


def _complete_editor(editor: dict[str, Any]) -> None:
    bound_editor(editor)
    for name in ("backlinkSort", "backmentionSort"):
        if editor[name] is None:
            editor[name] = 3
    editor["emoji"] = editor["emoji"] or []
    if not 9 <= editor["fontSize"] <= 72:
        editor["fontSize"] = 16
    editor["blockRefDynamicAnchorTextMaxLen"] = within(editor["blockRefDynamicAnchorTextMaxLen"], 1, 64, 5120)
    editor["generateHistoryInterval"] = min(editor["generateHistoryInterval"], 1440)
    editor["dynamicLoadBlocks"] = max(editor["dynamicLoadBlocks"], 48)
    editor["spellcheckLanguages"] = editor["spellcheckLanguages"] or ["en-US"]
    editor["backlinkExpandCount"] = max(editor["backlinkExpandCount"], 0)
    editor["backmentionExpandCount"] = max(editor["backmentionExpandCount"], -1)
    if editor["markdown"] is None:
        editor["markdown"] = zero(shapes.MARKDOWN)


def _complete_sync(sync: dict[str, Any]) -> None:
    sync["mode"] = sync["mode"] or 1
    sync["interval"] = within(sync["interval"], 30, 30, 12 * 3600)
    sync["perception"] = False
    if sync["s3"] is None:
        sync["s3"] = {**zero(shapes.S3), "pathStyle": True, "skipTlsVerify": True}
    if sync["webdav"] is None:
        sync["webdav"] = {**zero(shapes.WEBDAV), "skipTlsVerify": True}
    if sync["local"] is None:
        sync["local"] = zero(shapes.LOCAL_STORE)
    for name, requests in (("s3", 8), ("webdav", 1), ("local", 16)):
        bound_provider(sync[name], requests)


def bound_provider(provider: dict[str, Any], requests_default: int) -> None:
    """Time limit (s) and parallel requests of one storage provider."""
    timeout = provider["timeout"]
    provider["timeout"] = 60 if timeout < 1 else max(7, min(timeout, 300))
    most = 1024 if requests_default == 16 else 16
    provider["concurrentReqs"] = within(provider["concurrentReqs"], 1, requests_default, most)


def _complete_repo(repo: dict[str, Any]) -> None:
    repo["syncIndexTiming"] = max(repo["syncIndexTiming"], 12000)
    repo["indexRetentionDays"] = within(repo["indexRetentionDays"], 1, 180)
    repo["retentionIndexesDaily"] = within(repo["retentionIndexesDaily"], 1, 2)


def _complete_search(search: dict[str, Any]) -> None:
    search["limit"] = max(within(search["limit"], 1, 64), 32)
    search["backlinkMentionKeywordsLimit"] = within(search["backlinkMentionKeywordsLimit"], 1, 512)
    if search["hanSensitive"] is None:
        search["hanSensitive"] = True


def _complete_flashcard(flashcard: dict[str, Any]) -> None:
    bound_flashcard(flashcard)
    if not 0 < flashcard["requestRetention"] < 1:
        flashcard["requestRetention"] = 0.9
    if not 0 < flashcard["maximumInterval"] < 36500:
        flashcard["maximumInterval"] = 36500
    weights = flashcard["weights"].split(",")
    if len(weights) != _FSRS_WEIGHT_COUNT or not all(map(_is_number, weights)):
        flashcard["weights"] = FSRS_WEIGHTS


def bound_flashcard(flashcard: dict[str, Any]) -> None:
    """The daily limits, which are also checked when they are set."""
    flashcard["newCardLimit"] = within(flashcard["newCardLimit"], 0, 20)
    flashcard["reviewCardLimit"] = within(flashcard["reviewCardLimit"], 0, 200)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
