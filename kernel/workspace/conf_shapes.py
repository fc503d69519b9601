"""[core] The kernel's settings as typed records: every section of ``conf/conf.json``, its fields in the order written.

What a section holds before anything is set is in ``conf_defaults``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kernel.workspace.go_struct import (
    ANY,
    BOOL,
    BYTES,
    FLOAT,
    INT,
    INT64,
    TEXT,
    UINT8,
    UINT16,
    UINT32,
    Kind,
    ListOf,
    MapOf,
    Optional,
    Record,
)

_KINDS: Final[dict[str, Kind]] = {
    "bool": BOOL,
    "bool?": Optional(BOOL),
    "int": INT,
    "int?": Optional(INT),
    "int64": INT64,
    "uint8": UINT8,
    "uint16": UINT16,
    "uint32": UINT32,
    "float": FLOAT,
    "text": TEXT,
    "texts": ListOf(TEXT),
    "bytes": BYTES,
}


def record(
    type_name: str, rows: str, kinds: Mapping[str, Kind] | None = None, *, omitted_when_zero: str = ""
) -> Record:
    """A record from lines ``kind: field field …``; a kind that is not plain is given by its name."""
    known = {**_KINDS, **(kinds or {})}
    fields: dict[str, Kind] = {}
    for row in rows.strip().splitlines():
        kind_name, _, names = row.partition(":")
        kind = known[kind_name.strip()]
        fields.update(dict.fromkeys(names.split(), kind))
    return Record(type_name, fields, frozenset(omitted_when_zero.split()))


_THEMES: Final = ListOf(record("conf.AppearanceTheme", "text: name label"), is_optional=True)
_ICONS: Final = ListOf(record("conf.AppearanceIcon", "text: name label"), is_optional=True)
STATUS_BAR: Final = record(
    "util.StatusBar",
    """
    bool: msgTaskDatabaseIndexCommitDisabled msgTaskHistoryDatabaseIndexCommitDisabled
    bool: msgTaskAssetDatabaseIndexCommitDisabled msgTaskHistoryGenerateFileDisabled
    """,
)
NOTIFICATIONS: Final = record(
    "util.Notifications", "bool: docTreeMaxList tagMaxList workspaceNotSSD browserCompatibility"
)
APPEARANCE: Final = record(
    "conf.Appearance",
    """
    int: mode
    bool: modeOS
    themes: darkThemes lightThemes
    text: themeDark themeLight themeVer
    icons: icons
    text: icon iconVer codeBlockThemeLight codeBlockThemeDark lang
    bool: themeJS
    int: closeButtonBehavior
    bool: hideToolbar hideStatusBar
    bar: statusBar
    notices: notifications
    """,
    {"themes": _THEMES, "icons": _ICONS, "bar": Optional(STATUS_BAR), "notices": Optional(NOTIFICATIONS)},
)
LANGS: Final = ListOf(record("conf.Lang", "text: label name"), is_optional=True)
FILE_TREE: Final = record(
    "conf.FileTree",
    """
    bool: alwaysSelectOpenedFile openFilesUseCurrentTab docIconClickExpand parentDocClickExpand
    bool?: boxDocEnabled
    text: refCreateSaveBox refCreateSavePath docCreateSaveBox docCreateSavePath shorthandSaveBox shorthandSavePath
    int: maxListCount maxOpenTabCount
    bool: allowCreateDeeper removeDocWithoutConfirm closeTabsOnStart useSingleLineSave
    int: largeFileWarningSize
    bool?: createDocAtTop
    int: sort recentDocsMaxListCount
    bool: noSplitScreenWhenOpenTab
    """,
)
TAG: Final = record("conf.Tag", "int: sort")
MARKDOWN: Final = record(
    "util.Markdown",
    "bool: inlineAsterisk inlineUnderscore inlineSup inlineSub inlineTag inlineMath inlineStrikethrough inlineMark",
)
EDITOR: Final = record(
    "conf.Editor",
    """
    bool: allowSVGScript allowHTMLBLockScript
    int: fontSize
    bool: fontSizeScrollZoom
    text: fontFamily
    int: fontWeight
    text: fontFamilyDisplay
    bool: codeSyntaxHighlightLineNum
    int: codeTabSpaces
    bool: codeLineWrap codeLigatures displayBookmarkIcon displayNetImgMark
    int: databaseAttrViewMode generateHistoryInterval historyRetentionDays
    texts: emoji
    bool: virtualBlockRef
    text: virtualBlockRefExclude virtualBlockRefInclude
    int: blockRefDynamicAnchorTextMaxLen
    text: plantUMLServePath
    bool: fullWidth
    text: katexMacros
    bool: readOnly embedBlockBreadcrumb listLogicalOutdent listItemDotNumberClickFocus
    int: floatWindowMode
    int?: floatWindowDelay
    int: dynamicLoadBlocks
    bool: justify rtl spellcheck
    texts: spellcheckLanguages
    bool: onlySearchForDoc
    int: backlinkExpandCount backmentionExpandCount
    bool: backlinkContainChildren
    int?: backlinkSort backmentionSort
    int: headingEmbedMode
    bool: pasteURLAutoConvert
    markdown: markdown
    """,
    {"markdown": Optional(MARKDOWN)},
)
EXPORT: Final = record(
    "conf.Export",
    """
    bool: paragraphBeginningSpace addTitle
    int: blockRefMode blockEmbedMode
    text: blockRefTextLeft blockRefTextRight tagOpenMarker tagCloseMarker
    int: fileAnnotationRefMode
    text: pandocBin pandocParams docxTemplate
    bool: removeAssetsID markdownYFM inlineMemo includeSubDocs includeRelatedDocs
    text: pdfFooter pdfWatermarkStr pdfWatermarkDesc imageWatermarkStr imageWatermarkDesc
    """,
)
TYPE_FILTER: Final = record(
    "conf.TypeFilter", "bool: tag paragraph heading math code table list listItem blockquote super callout"
)
_D3: Final = record(
    "conf.D3",
    """
    float: nodeSize linkWidth lineOpacity centerStrength collideRadius collideStrength
    int: linkDistance
    bool: arrow
    """,
)
_GRAPH_KINDS: Final[dict[str, Kind]] = {"types": Optional(TYPE_FILTER), "d3": Optional(_D3)}
LOCAL_GRAPH: Final = record("conf.LocalGraph", "bool: dailyNote\ntypes: type\nd3: d3", _GRAPH_KINDS)
GLOBAL_GRAPH: Final = record("conf.GlobalGraph", "int: minRefs\nbool: dailyNote\ntypes: type\nd3: d3", _GRAPH_KINDS)
GRAPH: Final = record(
    "conf.Graph",
    "int: maxBlocks\nlocal: local\nglobal: global",
    {"local": Optional(LOCAL_GRAPH), "global": Optional(GLOBAL_GRAPH)},
)
UI_LAYOUT: Final = MapOf(ANY, "conf.UILayout")
ACCOUNT: Final = record("conf.Account", "bool: displayTitle displayVIP")
NETWORK_PROXY: Final = record("conf.NetworkProxy", "text: scheme host port")
SYSTEM: Final = record(
    "conf.System",
    """
    text: id name kernelVersion os osPlatform container
    bool: isMicrosoftStore isInsider
    text: homeDir workspaceDir appDir confDir dataDir
    bool: networkServe networkServeTLS
    proxy: networkProxy
    bool: downloadInstallPkg
    int: autoLaunch2 lockScreenMode
    texts: disabledFeatures
    bool: microsoftDefenderExcluded safeMode
    """,
    {"proxy": Optional(NETWORK_PROXY)},
)
KEYMAP: Final = MapOf(ANY, "conf.Keymap")
S3: Final = record(
    "conf.S3",
    "text: endpoint accessKey secretKey bucket region\nbool: pathStyle skipTlsVerify\nint: timeout concurrentReqs",
)
WEBDAV: Final = record(
    "conf.WebDAV", "text: endpoint username password\nbool: skipTlsVerify\nint: timeout concurrentReqs"
)
LOCAL_STORE: Final = record("conf.Local", "text: endpoint\nint: timeout concurrentReqs")
SYNC: Final = record(
    "conf.Sync",
    """
    text: cloudName
    bool: enabled perception
    int: mode interval
    int64: synced
    text: stat
    bool: generateConflictDoc
    int: provider
    s3: s3
    webdav: webdav
    local: local
    """,
    {"s3": Optional(S3), "webdav": Optional(WEBDAV), "local": Optional(LOCAL_STORE)},
)
SEARCH: Final = record(
    "conf.Search",
    """
    bool: document heading list listItem codeBlock mathBlock table blockquote superBlock paragraph htmlBlock
    bool: embedBlock databaseBlock audioBlock videoBlock iframeBlock widgetBlock callout
    int: limit
    bool: caseSensitive
    bool?: hanSensitive
    bool: name alias memo ial indexAssetPath
    bool: backlinkMentionName backlinkMentionAlias backlinkMentionAnchor backlinkMentionDoc
    int: backlinkMentionKeywordsLimit
    bool: virtualRefName virtualRefAlias virtualRefAnchor virtualRefDoc
    """,
)
FLASHCARD: Final = record(
    "conf.Flashcard",
    """
    int: newCardLimit reviewCardLimit
    bool: mark list superBlock heading deck
    int: reviewMode
    float: requestRetention
    int: maximumInterval
    text: weights
    """,
)
SECRETS: Final = record(
    "conf.Secrets", "items: items", {"items": ListOf(record("conf.Secret", "text: name value"), is_optional=True)}
)
VARIABLES: Final = record(
    "conf.Variables", "items: items", {"items": ListOf(record("conf.Variable", "text: name value"), is_optional=True)}
)
BAZAAR: Final = record("conf.Bazaar", "bool: trust petalDisabled")
STAT: Final = record(
    "conf.Stat", "int: treeCount cTreeCount blockCount cBlockCount\nint64: dataSize cDataSize assetsSize cAssetsSize"
)
API: Final = record("conf.API", "text: token")
REPO: Final = record("conf.Repo", "bytes: key\nint64: syncIndexTiming\nint: indexRetentionDays retentionIndexesDaily")
_KDF_PARAMS: Final = record("util.Argon2Params", "uint32: memory iterations\nuint8: parallelism\nuint32: keyLength")
NOTEBOOK_CRYPTO: Final = record(
    "conf.NotebookCrypto",
    """
    bool: enabled
    bytes: masterSalt
    kdf: kdfParams
    bytes: kekVerifier verifierNonce
    int: autoLockMinutes spec
    text: backupID
    int64: createdAt
    text: checksum
    bytes: kekMAC
    """,
    {"kdf": _KDF_PARAMS},
    omitted_when_zero="spec backupID createdAt checksum kekMAC",
)
_BASIC_AUTH: Final = record(
    "conf.BasicAuth",
    "bool: enable\naccounts: accounts",
    {"accounts": ListOf(record("conf.BasicAuthAccount", "text: username password memo"), is_optional=True)},
)
PUBLISH: Final = record("conf.Publish", "bool: enable\nuint16: port\nauth: auth", {"auth": Optional(_BASIC_AUTH)})
ONBOARDING: Final = record("conf.Onboarding", "text: state\nbool: newUser dismissed\ntext: notebookID documentID")
SNIPPETS: Final = record("conf.Snpt", "bool: enabledCSS enabledJS")
