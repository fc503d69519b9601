"""The product's first map: one table of the kernel's /api endpoints (3.7.3). A leaf; every layer reads it.

A row says where an endpoint is (``/api/<family>/<name>``), whether it reads or writes, who may call it and whether
read-only mode refuses it (some reads are refused too, some writes are not: kernel-facts, correction 2). HTTP routes,
the in-process dispatch, the remote client, the retry rule, the read budget and the fault points are derived from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["read", "write"]
Guard = Literal["public", "auth", "admin"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint. ``is_guarded``: read-only mode (and the reader role) refuses it."""

    path: str
    kind: Kind
    guard: Guard
    is_guarded: bool
    methods: frozenset[str]

    @property
    def is_write(self) -> bool:
        return self.kind == "write"


# family, "kind guard [guarded]", names ("." is the family itself: /api/transactions)
_ROWS: Final[tuple[tuple[str, str, str], ...]] = (
    ("account", "write admin guarded", "login checkActivationcode useActivationcode deactivate startFreeTrial"),
    (
        "ai",
        "read admin",
        "chatGPT chatGPTWithAction testModel testEmbeddingModel testRerankModel listModels embeddingStat "
        "mcpStatus agent/title agent/lsSessions agent/getSession agent/lsSkills agent/getSkill",
    ),
    (
        "ai",
        "write admin guarded",
        "mcpOAuthAuthorize mcpOAuthDisconnect reindexEmbedding retryFailedEmbedding agent/chat agent/confirm "
        "agent/question agent/frontendToolResult agent/saveSession agent/removeSession agent/saveSkill "
        "agent/removeSkill agent/renameSkill",
    ),
    ("archive", "write admin guarded", "zip unzip"),
    (
        "asset",
        "write admin guarded",
        "uploadCloud uploadCloudByAssetsPaths insertLocalAssets insertCover upload setFileAnnotation "
        "removeUnusedAsset removeUnusedAssets renameAsset setImageOCRText ocr fullReindexAssetContent",
    ),
    (
        "asset",
        "read auth",
        "resolveAssetPath getFileAnnotation getUnusedAssets getMissingAssets getDocImageAssets getDocAssets",
    ),
    ("asset", "read admin guarded", "getImageOCRText"),
    ("asset", "read admin", "statAsset"),
    ("attr", "read auth", "getBookmarkLabels getBlockAttrs batchGetBlockAttrs"),
    ("attr", "write admin guarded", "resetBlockAttrs setBlockAttrs batchSetBlockAttrs"),
    (
        "av",
        "read auth",
        "renderAttributeView getAttributeViewKeys getAttributeViewBacklinks getAttributeViewKeysByID "
        "getCurrentAttrViewImages",
    ),
    (
        "av",
        "read admin",
        "renderHistoryAttributeView renderSnapshotAttributeView changeAttrViewLayout "
        "getAttributeViewAddingBlockDefaultValues getAttributeViewBoundBlockIDsByItemIDs "
        "getAttributeViewItemIDsByBoundIDs getUnusedAttributeViews",
    ),
    (
        "av",
        "write admin guarded",
        "setAttributeViewBlockAttr batchSetAttributeViewBlockAttrs searchAttributeViewRelationKey "
        "searchAttributeViewNonRelationKey searchAttributeViewRollupDestKeys setAttrViewFilters "
        "setAttrViewSorts addAttributeViewKey removeAttributeViewKey sortAttributeViewViewKey "
        "sortAttributeViewKey addAttributeViewBlocks removeAttributeViewBlocks setDatabaseBlockView "
        "getAttributeViewKeysByAvID duplicateAttributeViewBlock appendAttributeViewDetachedBlocksWithValues "
        "setAttrViewGroup batchReplaceAttributeViewBlocks createAttributeViewItem removeUnusedAttributeViews "
        "removeUnusedAttributeView",
    ),
    ("av", "read auth guarded", "searchAttributeView getAttributeView"),
    ("av", "read admin guarded", "getAttributeViewFilterSort getAttributeViewPrimaryKeyValues getMirrorDatabaseBlocks"),
    (
        "bazaar",
        "read auth",
        "getBazaarPlugin getInstalledPlugin getBazaarWidget getInstalledWidget getBazaarIcon getInstalledIcon "
        "getBazaarTemplate getInstalledTemplate getBazaarTheme getInstalledTheme getBazaarPackageREADME "
        "getUpdatedPackage",
    ),
    (
        "bazaar",
        "write admin guarded",
        "installBazaarPlugin uninstallBazaarPlugin installBazaarWidget uninstallBazaarWidget "
        "installBazaarIcon uninstallBazaarIcon installBazaarTemplate uninstallBazaarTemplate "
        "installBazaarTheme uninstallBazaarTheme batchUpdatePackage",
    ),
    (
        "block",
        "read auth",
        "getBlockInfo getBlockDOM getBlockDOMs getBlockDOMWithEmbed getBlockDOMsWithEmbed getBlockKramdown "
        "getBlockKramdowns getBlockBreadcrumb getBlockIndex getBlocksIndexes getRefIDs "
        "getRefIDsByFileAnnotationID getBlockDefIDsByRefText getRefText getDOMText getTreeStat "
        "getBlocksWordCount getContentWordCount getRecentUpdatedBlocks getDocInfo getDocsInfo checkBlockExist "
        "checkBlocksExist getUnfoldedParentID checkBlockFold getHeadingChildrenIDs getHeadingChildrenDOM "
        "getBlockSiblingID getBlockRelevantIDs getBlockTreeInfos checkBlockRef",
    ),
    (
        "block",
        "read admin",
        "getChildBlocks getTailChildBlocks getHeadingLevelTransaction getHeadingDeleteTransaction "
        "getHeadingInsertTransaction",
    ),
    (
        "block",
        "write admin guarded",
        "insertBlock batchInsertBlock prependBlock batchPrependBlock appendBlock batchAppendBlock "
        "appendDailyNoteBlock prependDailyNoteBlock updateBlock batchUpdateBlock deleteBlock moveBlock "
        "moveOutlineHeading foldBlock unfoldBlock setBlockReminder swapBlockRef transferBlockRef "
        "appendHeadingChildren updateTaskListItemMarker batchUpdateTaskListItemMarker",
    ),
    ("bookmark", "read auth", "getBookmark"),
    ("bookmark", "write admin guarded", "renameBookmark removeBookmark"),
    ("broadcast", "write admin", "publish postMessage"),
    ("broadcast", "read admin", "getChannels getChannelInfo"),
    ("clipboard", "read admin", "readFilePaths writeFilePath"),
    ("cloud", "read admin", "getCloudSpace"),
    ("cloud", "write admin guarded", "setCloudReminder"),
    ("convert", "write admin guarded", "pandoc"),
    (
        "export",
        "read admin",
        "exportNotebookMd exportMds exportMd exportSYs exportSY exportNotebookSY exportMdContent exportHTML "
        "exportPreviewHTML exportMdHTML exportDocx processPDF exportAsFile exportData exportDataInFolder "
        "exportTempContent exportBrowserHTML exportReStructuredText exportAsciiDoc exportTextile exportOPML "
        "exportOrgMode exportMediaWiki exportODT exportRTF exportEPUB exportAttributeView exportCodeBlock",
    ),
    ("export", "read auth", "preview"),
    ("export", "write admin", "exportResources"),
    ("export", "write admin guarded", "export2Liandi copyExportFile"),
    ("extension", "write admin guarded", "copy"),
    ("file", "read auth", "getFile getUniqueFilename"),
    ("file", "write admin guarded", "putFile copyFile globalCopyFiles workspaceCopyFiles removeFile renameFile"),
    ("file", "read admin", "readDir"),
    (
        "filetree",
        "read auth",
        "searchDocs listDocsByPath getDoc getDocCreateSavePath getRefCreateSavePath getShorthandSavePath "
        "getHPathByPath getHPathsByPaths getHPathByID getPathByID getFullHPathByID getIDsByHPath "
        "authFilePublishAccess",
    ),
    (
        "filetree",
        "write admin guarded",
        "changeSort createDocWithMd createDailyNote createDoc renameDoc renameDocByID removeDoc removeDocByID "
        "removeDocs moveDocs moveDocsByID duplicateDoc doc2Heading heading2Doc li2Doc upsertIndexes "
        "removeIndexes moveLocalShorthands setPublishAccess",
    ),
    ("filetree", "read admin guarded", "listDocTree getPublishAccess"),
    ("format", "write admin guarded", "autoSpace netImg2LocalAssets netAssets2LocalAssets"),
    ("graph", "write admin guarded", "resetGraph resetLocalGraph"),
    ("graph", "read auth", "getGraph getLocalGraph"),
    (
        "history",
        "write admin guarded",
        "rollbackAttributeViewHistory rollbackNotebookHistory rollbackAssetsHistory rollbackDocHistory "
        "clearWorkspaceHistory reindexHistory createDocHistory",
    ),
    ("history", "read admin", "getNotebookHistory getDocHistoryContent searchHistory getHistoryItems"),
    ("icon", "read auth", "getDynamicIcon"),
    (
        "import",
        "write admin guarded",
        "importStdMd importZipMd importData importSY importSYNotebook importSYAuto continueImportSY "
        "cancelImportSY startObsidianVaultAnalysis startObsidianVaultImport",
    ),
    ("import", "read admin", "getObsidianVaultTask cancelObsidianVaultTask"),
    ("inbox", "read admin", "getShorthands getShorthand"),
    ("inbox", "write admin guarded", "removeShorthands"),
    ("lute", "read auth", "spinBlockDOM copyStdMarkdown md2html"),
    ("lute", "write admin guarded", "html2BlockDOM"),
    ("network", "read admin", "forwardProxy"),
    ("notebook", "read auth", "lsNotebooks getNotebookConf getNotebookInfo getEncryptedNotebookStatus"),
    (
        "notebook",
        "write admin guarded",
        "openNotebook closeNotebook setNotebookConf createNotebook removeNotebook renameNotebook "
        "changeSortNotebook setNotebookIcon enableEncryptedNotebooks disableEncryptedNotebooks "
        "createEncryptedNotebook lockNotebook unlockAndOpenNotebook changeMasterPassword "
        "exportNotebookCryptoBackup importNotebookCryptoBackup setNotebookCryptoAutoLock",
    ),
    ("notebook", "read admin", "unlockNotebook touchEncryptedNotebooks"),
    ("notification", "write admin", "pushMsg pushErrMsg"),
    ("outline", "read auth", "getDocOutline"),
    ("petal", "read auth", "loadPetals"),
    ("petal", "write admin guarded", "setPetalEnabled"),
    ("plugin", "read auth", "rpc . getLoadedPlugin listLoadedPlugins"),
    ("query", "read admin guarded", "sql"),
    ("ref", "read auth", "refreshBacklink getBacklink getBacklink2 getBacklinkDoc getBackmentionDoc"),
    (
        "repo",
        "write admin guarded",
        "initRepoKey initRepoKeyFromPassphrase resetRepo purgeRepo purgeCloudRepo importRepoKey "
        "createSnapshot tagSnapshot checkoutRepo removeRepoTagSnapshot removeCloudRepoTagSnapshot "
        "uploadCloudSnapshot downloadCloudSnapshot",
    ),
    (
        "repo",
        "read admin",
        "getRepoSnapshots searchRepoFile getRepoTagSnapshots getCloudRepoTagSnapshots getCloudRepoSnapshots "
        "diffRepoSnapshots openRepoSnapshotFile exportRepoFile getRepoFile setRepoIndexRetentionDays "
        "setRetentionIndexesDaily",
    ),
    ("repo", "write admin", "rollbackRepoSnapshotFile"),
    (
        "riff",
        "write admin guarded",
        "createRiffDeck renameRiffDeck removeRiffDeck addRiffCards removeRiffCards reviewRiffCard "
        "skipReviewRiffCard resetRiffCards batchSetRiffCardsDueTime",
    ),
    (
        "riff",
        "read admin",
        "getRiffDecks getRiffDueCards getTreeRiffDueCards getNotebookRiffDueCards getRiffCards "
        "getTreeRiffCards getNotebookRiffCards",
    ),
    ("riff", "read admin guarded", "getRiffCardsByBlockIDs"),
    ("search", "read admin guarded", "searchTag searchTemplate searchWidget searchAsset"),
    ("search", "write admin guarded", "removeTemplate findReplace"),
    (
        "search",
        "read auth",
        "searchRefBlock searchEmbedBlock getEmbedBlock updateEmbedBlock fullTextSearchBlock "
        "fullTextSearchAssetContent getAssetContent getAssetContentByPath listInvalidBlockRefs "
        "semanticSearchBlock",
    ),
    (
        "setting",
        "write admin guarded",
        "setAccount setEditor setExport setFiletree setSearch setKeymap setAppearance setIcon setTheme "
        "logoutCloudUser login2faCloudUser setEmoji setFlashcard setAI setSecrets setVariables setBazaar "
        "setPublish getPublish refreshVirtualBlockRef addVirtualBlockRefInclude addVirtualBlockRefExclude "
        "setSnippet setEditorReadOnly",
    ),
    ("setting", "read auth", "getCloudUser"),
    ("snippet", "read auth", "getSnippet"),
    ("snippet", "write admin guarded", "setSnippet removeSnippet"),
    ("sqlite", "write admin guarded", "flushTransaction"),
    (
        "storage",
        "read auth",
        "getLocalStorage getLocalStorageVal getLocalStorageVals getCriteria getRecentDocs getOutlineStorage",
    ),
    (
        "storage",
        "write admin guarded",
        "setLocalStorage setLocalStorageVal setLocalStorageVals removeLocalStorageVal removeLocalStorageVals "
        "setCriterion removeCriterion setOutlineStorage removeOutlineStorage",
    ),
    (
        "storage",
        "write auth",
        "updateRecentDocOpenTime updateRecentDocViewTime updateRecentDocCloseTime batchUpdateRecentDocCloseTime",
    ),
    (
        "sync",
        "write admin guarded",
        "setSyncEnable setSyncInterval setSyncPerception setSyncGenerateConflictDoc setSyncMode "
        "setSyncProvider setSyncProviderS3 setSyncProviderWebDAV setSyncProviderLocal setCloudSyncDir "
        "createCloudSyncDir removeCloudSyncDir performSync performBootSync importSyncProviderS3 "
        "importSyncProviderWebDAV",
    ),
    ("sync", "read admin", "listCloudSyncDir getSyncInfo exportSyncProviderS3 exportSyncProviderWebDAV"),
    ("sync", "read auth", "getBootSync"),
    (
        "system",
        "read public",
        "bootProgress bootProgressSSE version currentTime uiproc loginAuth logoutAuth getCaptcha",
    ),
    ("system", "read auth", "getEmojiConf getWorkspaces getConf getChangelog"),
    (
        "system",
        "write admin guarded",
        "setAPIToken setAccessAuthCode setFollowSystemLockScreen setNetworkServe setNetworkServeTLS "
        "importTLSCABundle setAutoLaunch setDownloadInstallPkg setNetworkProxy setWorkspaceDir "
        "checkWorkspaceDir createWorkspaceDir removeWorkspaceDir removeWorkspaceDirPhysically "
        "setAppearanceMode setUILayout ensureOnboarding dismissOnboarding importConf reloadUI "
        "addMicrosoftDefenderExclusion ignoreAddMicrosoftDefenderExclusion vacuumDataIndex clearTempFiles "
        "rebuildDataIndex",
    ),
    (
        "system",
        "read admin",
        "exportTLSCACert exportTLSCABundle getMobileWorkspaces getSysFonts exit checkUpdate exportLog "
        "getNetwork exportConf",
    ),
    ("system", "read admin guarded", "getWorkspaceInfo"),
    ("tag", "read auth", "getTag"),
    ("tag", "write admin guarded", "renameTag removeTag"),
    ("template", "read admin guarded", "render renderSprig"),
    ("template", "write admin guarded", "docSaveAsTemplate"),
    ("transactions", "write admin guarded", ". undo redo clearHistory"),
    ("transactions", "read auth", "undoState"),
    (
        "ui",
        "write admin guarded",
        "reloadUI reloadIcon reloadTheme reloadAttributeView reloadProtyle reloadFiletree reloadTag",
    ),
)

# Endpoints that answer to more, or other, methods than POST.
_METHODS: Final[dict[str, frozenset[str]]] = {
    "/api/system/bootProgress": frozenset({"GET", "POST"}),
    "/api/system/bootProgressSSE": frozenset({"GET"}),
    "/api/system/version": frozenset({"GET", "POST"}),
    "/api/system/getCaptcha": frozenset({"GET"}),
    "/api/icon/getDynamicIcon": frozenset({"GET"}),
    "/api/plugin/rpc": frozenset({"GET", "POST"}),
    "/api/plugin": frozenset({"GET"}),
}
_POST: Final = frozenset({"POST"})


def _expand() -> Iterator[tuple[str, Endpoint]]:
    for family, flags, names in _ROWS:
        kind, guard, *rest = flags.split()
        for name in names.split():
            path = f"/api/{family}" if name == "." else f"/api/{family}/{name}"
            yield path, Endpoint(path, kind, guard, bool(rest), _METHODS.get(path, _POST))  # type: ignore[arg-type]


ENDPOINTS: Final[dict[str, Endpoint]] = dict(_expand())
_READS: Final = frozenset(path for path, endpoint in ENDPOINTS.items() if not endpoint.is_write)


def is_write(path: str) -> bool:
    """Whether calling ``path`` may change something. An unknown path counts as a write: it is never retried."""
    return path not in _READS
