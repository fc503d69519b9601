"""[core] What the settings hold before anything is set, section by section."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace import conf_shapes as shapes
from kernel.workspace.conf_ai import AI
from kernel.workspace.go_struct import BOOL, INT, TEXT, Optional, Record, zero

if TYPE_CHECKING:
    from kernel.workspace.go_struct import Kind

# The sections that are records, by the key in conf.json.
SECTIONS: Final[dict[str, Record]] = {
    "appearance": shapes.APPEARANCE,
    "fileTree": shapes.FILE_TREE,
    "tag": shapes.TAG,
    "editor": shapes.EDITOR,
    "export": shapes.EXPORT,
    "graph": shapes.GRAPH,
    "account": shapes.ACCOUNT,
    "system": shapes.SYSTEM,
    "sync": shapes.SYNC,
    "search": shapes.SEARCH,
    "flashcard": shapes.FLASHCARD,
    "ai": AI,
    "secrets": shapes.SECRETS,
    "variables": shapes.VARIABLES,
    "bazaar": shapes.BAZAAR,
    "stat": shapes.STAT,
    "api": shapes.API,
    "repo": shapes.REPO,
    "notebookCrypto": shapes.NOTEBOOK_CRYPTO,
    "publish": shapes.PUBLISH,
    "onboarding": shapes.ONBOARDING,
    "snippet": shapes.SNIPPETS,
}
_PLAIN: Final[dict[str, Kind]] = {
    "logLevel": TEXT,
    "langs": shapes.LANGS,
    "lang": TEXT,
    "uiLayout": shapes.UI_LAYOUT,
    "userData": TEXT,
    "readonly": BOOL,
    "serverAddrs": shapes.EDITOR.fields["emoji"],
    "accessAuthCode": TEXT,
    "keymap": shapes.KEYMAP,
    "showChangelog": BOOL,
    "cloudRegion": INT,
    "dataIndexState": INT,
    "cookieKey": TEXT,
    "mcpOAuth": TEXT,
}
_ORDER: Final = [
    "logLevel",
    "appearance",
    "langs",
    "lang",
    "fileTree",
    "tag",
    "editor",
    "export",
    "graph",
    "uiLayout",
    "userData",
    "account",
    "readonly",
    "serverAddrs",
    "accessAuthCode",
    "system",
    "keymap",
    "sync",
    "search",
    "flashcard",
    "ai",
    "secrets",
    "variables",
    "bazaar",
    "stat",
    "api",
    "repo",
    "notebookCrypto",
    "publish",
    "onboarding",
    "showChangelog",
    "cloudRegion",
    "snippet",
    "dataIndexState",
    "cookieKey",
    "mcpOAuth",
]
# conf.json as a whole.
CONF: Final = Record(
    "model.AppConf", {name: Optional(SECTIONS[name]) if name in SECTIONS else _PLAIN[name] for name in _ORDER}
)

_D3: Final = {
    "nodeSize": 15,
    "linkWidth": 8,
    "lineOpacity": 0.36,
    "centerStrength": 0.01,
    "collideRadius": 600,
    "collideStrength": 0.08,
    "linkDistance": 400,
    "arrow": True,
}
FSRS_WEIGHTS: Final = (
    "0.40255, 1.18385, 3.173, 15.69105, 7.1949, 0.5345, 1.4604, 0.0046, 1.54575, 0.1192, 1.01925, 1.9395, 0.11, "
    "0.29605, 2.2698, 0.2315, 2.9898, 0.51655, 0.6621"
)
PLANTUML: Final = "https://www.plantuml.com/plantuml/svg/~1"
THEME_DARK: Final = "midnight"
THEME_LIGHT: Final = "daylight"
ICON: Final = "litheness"

# What is not zero in a section that was never stored.
_AT_FIRST: Final[dict[str, dict[str, Any]]] = {
    "appearance": {
        "modeOS": True,
        "themeDark": THEME_DARK,
        "themeLight": THEME_LIGHT,
        "icon": ICON,
        "codeBlockThemeLight": "github",
        "codeBlockThemeDark": "base16/dracula",
        "lang": "en",
        "hideToolbar": True,
    },
    "fileTree": {
        "boxDocEnabled": True,
        "maxListCount": 512,
        "maxOpenTabCount": 8,
        "useSingleLineSave": True,
        "largeFileWarningSize": 8,
        "createDocAtTop": False,
        "sort": 6,
    },
    "tag": {"sort": 4},
    "editor": {
        "fontSize": 16,
        "displayBookmarkIcon": True,
        "displayNetImgMark": True,
        "generateHistoryInterval": 10,
        "historyRetentionDays": 30,
        "emoji": [],
        "blockRefDynamicAnchorTextMaxLen": 96,
        "plantUMLServePath": PLANTUML,
        "fullWidth": True,
        "katexMacros": "{}",
        "listItemDotNumberClickFocus": True,
        "floatWindowDelay": 620,
        "dynamicLoadBlocks": 192,
        "spellcheckLanguages": ["en-US"],
        "backlinkExpandCount": 8,
        "backmentionExpandCount": -1,
        "backlinkContainChildren": True,
        "backlinkSort": 3,
        "backmentionSort": 3,
        "markdown": dict.fromkeys(shapes.MARKDOWN.fields, True),
    },
    "export": {
        "addTitle": True,
        "blockRefMode": 4,
        "blockEmbedMode": 1,
        "tagOpenMarker": "#",
        "tagCloseMarker": "#",
        "includeSubDocs": True,
        "pdfFooter": "%page / %pages",
    },
    "graph": {
        "maxBlocks": 10240,
        "local": {**zero(shapes.LOCAL_GRAPH), "type": zero(shapes.TYPE_FILTER), "d3": _D3},
        "global": {**zero(shapes.GLOBAL_GRAPH), "type": zero(shapes.TYPE_FILTER), "d3": _D3},
    },
    "account": {"displayTitle": True, "displayVIP": True},
    "system": {"networkProxy": zero(shapes.NETWORK_PROXY), "downloadInstallPkg": True, "disabledFeatures": []},
    "sync": {"cloudName": "main", "mode": 1, "interval": 30},
    "search": {
        **dict.fromkeys(
            ["document", "heading", "codeBlock", "mathBlock", "table", "paragraph", "htmlBlock", "databaseBlock"], True
        ),
        **dict.fromkeys(["hanSensitive", "name", "alias", "memo", "indexAssetPath", "backlinkMentionName"], True),
        **dict.fromkeys(["backlinkMentionAnchor", "backlinkMentionDoc"], True),
        **dict.fromkeys(["virtualRefName", "virtualRefAnchor", "virtualRefDoc"], True),
        "limit": 64,
        "backlinkMentionKeywordsLimit": 512,
    },
    "flashcard": {
        "newCardLimit": 20,
        "reviewCardLimit": 200,
        **dict.fromkeys(["mark", "list", "superBlock", "heading"], True),
        "requestRetention": 0.9,
        "maximumInterval": 36500,
        "weights": FSRS_WEIGHTS,
    },
    "secrets": {"items": []},
    "variables": {"items": []},
    "repo": {"syncIndexTiming": 12000, "indexRetentionDays": 180, "retentionIndexesDaily": 2},
    "notebookCrypto": {
        "kdfParams": {"memory": 65536, "iterations": 3, "parallelism": 4, "keyLength": 32},
        "autoLockMinutes": 5,
        "spec": 1,
    },
    "publish": {"port": 6808, "auth": {"enable": True, "accounts": []}},
    "onboarding": {"state": "completed"},
    "snippet": {"enabledCSS": True, "enabledJS": True},
}
# Languages of the real kernel's interface.
_LANGS: Final = (
    "ar العربية|de Deutsch|en English|es Español|fr Français|he עברית|hi हिन्दी|id Bahasa Indonesia|it Italiano|"
    "ja 日本語|ko 한국어|nl Nederlands|pl Polski|pt-BR Português (Brasil)|ru Русский|sk Slovenčina|th ไทย|tr Türkçe|"
    "uk Українська|zh-CN 简体中文|zh-TW 繁體中文"
)


def fresh(section: str) -> dict[str, Any]:
    """A section as it is before anything is set."""
    section_values: dict[str, Any] = zero(SECTIONS[section])
    return {**section_values, **copy.deepcopy(_AT_FIRST.get(section, {}))}


def languages() -> list[dict[str, str]]:
    """The interface languages, by their code."""
    pairs = [entry.split(" ", 1) for entry in _LANGS.split("|")]
    return [{"label": label, "name": code} for code, label in pairs]
