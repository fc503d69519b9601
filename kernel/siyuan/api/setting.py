"""/api/setting: sections of the settings, each set as a whole (siyuan-api A13; golden ``api2-setting-*``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import show_message
from kernel.siyuan.appearance import has_package, settle_appearance
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.emoji_names import safe_emoji_name
from kernel.siyuan.sections import fitted, given_section, show_section, store_section
from kernel.workspace import conf_bounds as bounds
from kernel.workspace.boxes import ensure_box_document, list_boxes
from kernel.workspace.conf_ai import complete_ai
from kernel.workspace.conf_defaults import fresh
from kernel.workspace.conf_shapes import KEYMAP
from kernel.workspace.events import FILETREE, MAIN, PROTYLE

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

MESSAGE_MS: Final = 5000
NO_MODES: Final = "[modes] is required ([0] for light, [1] for dark, [0,1] for both)"
BAD_PANDOC: Final = "[%s] is not a valid Pandoc executable"
LOGIN_FAILED: Final = "Get community user account failed"
NO_ACCOUNT: Final = "User information has expired, please log in again"
# Publishing needs a second server, which this kernel does not bring (docs/differences.md).
NO_PUBLISH: Final = "the publish service is not served by this kernel"
_LEGACY_LANGS: Final = {"zh_CN": "zh-CN", "zh_CHT": "zh-TW", "pt_BR": "pt-BR", "uk_UA": "uk"}
_LEGACY_OTHERS: Final = frozenset(
    ["en", "de", "fr", "es", "it", "ja", "ko", "ru", "pl", "nl", "ar", "he", "hi", "id", "th", "tr", "sk"]
)


# --- sections that are only checked and kept --------------------------------------------------------------------
def set_account(call: Call) -> Any:
    return store_section(call.kernel, "account", given_section(call, "account"))


def set_bazaar(call: Call) -> Any:
    return store_section(call.kernel, "bazaar", given_section(call, "bazaar"))


def set_secrets(call: Call) -> Any:
    return store_section(call.kernel, "secrets", given_section(call, "secrets"))


def set_variables(call: Call) -> Any:
    return store_section(call.kernel, "variables", given_section(call, "variables"))


def set_keymap(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    conf.values["keymap"] = fitted(KEYMAP, call.arguments.get("data"), {})
    conf.save()


def set_snippet(call: Call) -> Any:
    """Whether CSS and JS snippets are on at all (the snippets are /api/snippet's)."""
    shown = store_section(call.kernel, "snippet", given_section(call, "snippet"))
    call.kernel.workspace.emit("setSnippet", shown, to=MAIN)
    return shown


def set_flashcard(call: Call) -> Any:
    flashcard = given_section(call, "flashcard")
    bounds.bound_flashcard(flashcard)
    return store_section(call.kernel, "flashcard", flashcard)


# --- editor -----------------------------------------------------------------------------------------------------
def set_editor(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    was_readonly = conf.section("editor")["readOnly"]
    # The Markdown switches are laid over those in force, not over the defaults: the kernel shares one record.
    start = {**fresh("editor"), "markdown": conf.section("editor")["markdown"]}
    editor = given_section(call, "editor", start)
    editor["katexMacros"] = editor["katexMacros"] or "{}"
    bounds.bound_editor(editor)
    shown = store_section(call.kernel, "editor", editor)
    _tell_readonly(call, was_readonly)
    return shown


def set_editor_readonly(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    is_readonly = call.arguments.raw_bool("readonly")
    was_readonly = conf.section("editor")["readOnly"]
    conf.section("editor")["readOnly"] = is_readonly
    conf.save()
    _tell_readonly(call, was_readonly)


def _tell_readonly(call: Call, was_readonly: bool) -> None:
    is_readonly = call.kernel.workspace.conf.section("editor")["readOnly"]
    if is_readonly != was_readonly:
        for windows in (PROTYLE, MAIN):
            call.kernel.workspace.emit("readonly", is_readonly, to=windows)


def set_emoji(call: Call) -> Any:
    """The emojis used last. They are written with the next change of the settings, as in the kernel."""
    names = [safe_emoji_name(name) if "." in name else name for name in call.arguments.raw_str_list("emoji")]
    call.kernel.workspace.conf.section("editor")["emoji"] = names or None


def add_virtual_include(call: Call) -> Any:
    _add_keywords(call, "virtualBlockRefInclude")


def add_virtual_exclude(call: Call) -> Any:
    _add_keywords(call, "virtualBlockRefExclude")


def refresh_virtual(call: Call) -> Any:
    _tell_conf(call)


def _add_keywords(call: Call, name: str) -> None:
    conf = call.kernel.workspace.conf
    given = call.arguments.raw_str_list("keywords")
    if given:
        editor = conf.section("editor")
        editor[name] = _joined_keywords(editor[name].strip(), given)
        conf.save()
    _tell_conf(call)


def _joined_keywords(stored: str, given: list[str]) -> str:
    """A list of words with commas between them; a comma inside a word is escaped."""
    if not stored.endswith("\\,"):
        stored = stored.removesuffix(",")
    escape = "\0"
    known = [part.strip().replace(escape, ",") for part in stored.replace("\\,", escape).replace("\n", ",").split(",")]
    words = [stored] if stored else []
    for word in dict.fromkeys(word.strip() for word in given):
        if word and word not in known:
            words.append(word.replace(",", "\\,"))
    return ",".join(words)


def _tell_conf(call: Call) -> None:
    workspace = call.kernel.workspace
    workspace.emit("setConf", workspace.conf.written, to=MAIN)


# --- export, file tree, search ----------------------------------------------------------------------------------
def set_export(call: Call) -> Any:
    export = given_section(call, "export", error_data={"closeTimeout": MESSAGE_MS})
    if export["pandocBin"]:
        # No Pandoc is started by this kernel, so none is valid.
        show_message(call, BAD_PANDOC % export["pandocBin"], MESSAGE_MS, code=-1)
        export["pandocBin"] = ""
    return store_section(call.kernel, "export", export)


def set_filetree(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    was_enabled = conf.is_box_doc_enabled
    tree = given_section(call, "fileTree", {**fresh("fileTree"), "boxDocEnabled": None})
    if tree["boxDocEnabled"] is None:
        tree["boxDocEnabled"] = was_enabled
    for name in ("docCreateSavePath", "refCreateSavePath", "shorthandSavePath"):
        tree[name] = bounds.without_blanks(tree[name])
    if tree["shorthandSavePath"] and not tree["shorthandSavePath"].startswith("/"):
        tree["shorthandSavePath"] = f"/{tree['shorthandSavePath']}"
    bounds.bound_tree_counts(tree)
    shown = store_section(call.kernel, "fileTree", tree)
    if was_enabled != conf.is_box_doc_enabled:
        _refresh_box_documents(call)
    return shown


def _refresh_box_documents(call: Call) -> None:
    workspace = call.kernel.workspace
    if workspace.conf.is_box_doc_enabled:
        for notebook in list_boxes(workspace):
            if not notebook.is_closed:
                ensure_box_document(workspace, notebook.id)
    workspace.emit("reloadFiletree", to=FILETREE)


def set_search(call: Call) -> Any:
    search = given_section(call, "search")
    if search["hanSensitive"] is None:
        search["hanSensitive"] = call.kernel.workspace.conf.section("search")["hanSensitive"]
    search["limit"] = max(search["limit"], 32)
    return store_section(call.kernel, "search", search)


# --- appearance -------------------------------------------------------------------------------------------------
def set_appearance(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    appearance = given_section(call, "appearance")
    bounds.complete_appearance(appearance)
    conf.values["appearance"] = appearance
    conf.values["lang"] = _current_lang(appearance["lang"])
    settle_appearance(call.kernel)
    _tell_appearance(call)
    return show_section(call.kernel, "appearance")


def set_icon(call: Call) -> Any:
    icon = call.arguments.required_str("icon")
    appearance = call.kernel.workspace.conf.section("appearance")
    if not has_package(appearance["icons"], icon):
        raise ApiError(f"icon [{icon}] not exists or not available")
    appearance["icon"] = icon
    settle_appearance(call.kernel)
    _tell_appearance(call)


def set_theme(call: Call) -> Any:
    theme = call.arguments.optional_str("theme").strip()
    given_modes = call.arguments.optional_list("modes") or []
    mode = call.arguments.optional_str("appearanceMode").strip()
    appearance = call.kernel.workspace.conf.section("appearance")
    if theme:
        modes = _modes(given_modes)
        if not modes:
            raise ApiError(NO_MODES)
        _select_theme(appearance, theme, modes)
    if mode:
        _select_mode(appearance, mode)
    settle_appearance(call.kernel)
    _tell_appearance(call)


def _modes(given: list[Any]) -> list[int]:
    """The leading modes 0 and 1; the first other value ends them."""
    modes = []
    for value in given:
        if isinstance(value, bool) or not isinstance(value, int | float) or int(value) not in (0, 1):
            break
        modes.append(int(value))
    return modes


def _select_theme(appearance: dict[str, Any], theme: str, modes: list[int]) -> None:
    for mode in modes:
        word, listed, selected = (("light", "lightThemes", "themeLight"), ("dark", "darkThemes", "themeDark"))[mode]
        if not has_package(appearance[listed], theme):
            raise ApiError(f"theme [{theme}] not exists or not available for {word} mode")
        appearance[selected] = theme


def _select_mode(appearance: dict[str, Any], mode: str) -> None:
    if mode not in ("light", "dark", "system"):
        raise ApiError(f"invalid appearance mode: {mode}")
    appearance["modeOS"] = mode == "system"
    if mode != "system":
        appearance["mode"] = int(mode == "dark")


def _current_lang(lang: str) -> str:
    short = lang.partition("_")[0]
    return _LEGACY_LANGS.get(lang) or (short if "_" in lang and short in _LEGACY_OTHERS else lang)


def _tell_appearance(call: Call) -> None:
    call.kernel.workspace.emit("setAppearance", show_section(call.kernel, "appearance"), to=MAIN)


# --- artificial intelligence, account, publishing ---------------------------------------------------------------
def set_ai(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    ai = given_section(call, "ai")
    known = {server["name"]: server["id"] for server in conf.section("ai")["mcp"]["servers"]}
    for server in (ai["mcp"] or {}).get("servers") or []:
        server["id"] = server["id"] or known.get(server["name"], "")
    complete_ai(ai, conf.new_id, conf.new_uuid)
    return store_section(call.kernel, "ai", ai)


def get_cloud_user(call: Call) -> Any:
    """Nobody is signed in to the cloud: nothing leaves the machine (decision 55)."""
    token = call.arguments.get("token")
    if call.is_admin and token is not None and call.arguments.raw_str("token"):
        show_message(call, NO_ACCOUNT, MESSAGE_MS, code=-1)


def logout_cloud_user(call: Call) -> Any:
    conf = call.kernel.workspace.conf
    conf.values["userData"] = ""
    conf.save()


def login_2fa(call: Call) -> Any:
    call.arguments.raw_str("token")
    call.arguments.raw_str("code")
    raise ApiError(LOGIN_FAILED)


def set_publish(call: Call) -> Any:
    publish = given_section(call, "publish")
    if publish["enable"]:
        raise ApiError(NO_PUBLISH)
    shown = store_section(call.kernel, "publish", publish)
    if publish["auth"] is None:
        raise Panic("auth")
    call.kernel.workspace.emit("setPublish", shown, to=MAIN)
    return {"port": 0, "publish": shown}


def get_publish(call: Call) -> Any:
    shown = show_section(call.kernel, "publish")
    if shown["auth"] is None:
        raise Panic("auth")
    return {"port": 0, "publish": shown}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/setting/setAccount": set_account,
    "/api/setting/setBazaar": set_bazaar,
    "/api/setting/setSecrets": set_secrets,
    "/api/setting/setVariables": set_variables,
    "/api/setting/setKeymap": set_keymap,
    "/api/setting/setSnippet": set_snippet,
    "/api/setting/setFlashcard": set_flashcard,
    "/api/setting/setEditor": set_editor,
    "/api/setting/setEditorReadOnly": set_editor_readonly,
    "/api/setting/setEmoji": set_emoji,
    "/api/setting/addVirtualBlockRefInclude": add_virtual_include,
    "/api/setting/addVirtualBlockRefExclude": add_virtual_exclude,
    "/api/setting/refreshVirtualBlockRef": refresh_virtual,
    "/api/setting/setExport": set_export,
    "/api/setting/setFiletree": set_filetree,
    "/api/setting/setSearch": set_search,
    "/api/setting/setAppearance": set_appearance,
    "/api/setting/setIcon": set_icon,
    "/api/setting/setTheme": set_theme,
    "/api/setting/setAI": set_ai,
    "/api/setting/getCloudUser": get_cloud_user,
    "/api/setting/logoutCloudUser": logout_cloud_user,
    "/api/setting/login2faCloudUser": login_2fa,
    "/api/setting/setPublish": set_publish,
    "/api/setting/getPublish": get_publish,
}
