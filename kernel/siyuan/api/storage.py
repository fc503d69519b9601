"""/api/storage: what windows remember: local storage, search criteria, unfolded outlines (siyuan-api A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.system import deprecated
from kernel.siyuan.arguments import ApiError
from kernel.siyuan.sections import fitted
from kernel.siyuan.stored_json import StoredJsonInvalid, store, stored
from kernel.workspace.conf_shapes import SEARCH, record
from kernel.workspace.events import MAIN
from kernel.workspace.go_struct import ANY, BOOL, ListOf, MapOf, Optional, Record, plain

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

LOCAL: Final = "data/storage/local.json"
CRITERIA: Final = "data/storage/criteria.json"
OUTLINES: Final = "data/storage/outline.json"
# Documents whose outline is remembered.
OUTLINES_MAX: Final = 2000
NAME_EMPTY: Final = "Input can not be empty"
# Frames for the other apps' main windows.
TO_OTHER_APPS: Final = 6

_VALUES: Final = MapOf(ANY)
_TYPES: Final = Record(
    "model.CriterionTypes", {name: BOOL for name, kind in list(SEARCH.fields.items())[:18] if kind is BOOL}
)
_REPLACE_TYPES: Final = record(
    "model.CriterionReplaceTypes",
    """
    bool: text imgText imgTitle imgSrc aText aTitle aHref code em strong inlineMath inlineMemo blockRef
    bool: fileAnnotationRef kbd mark s sub sup tag u docTitle codeBlock mathBlock htmlBlock
    """,
)
CRITERION: Final = record(
    "model.Criterion",
    """
    text: name
    int: sort group
    bool: hasReplace
    int: method
    text: hPath
    texts: idPath
    text: k r
    types: types
    replace: replaceTypes
    """,
    {"types": Optional(_TYPES), "replace": Optional(_REPLACE_TYPES)},
)
_CRITERIA: Final = ListOf(CRITERION, is_optional=True)
_OUTLINES: Final = ListOf(
    record("model.OutlineDoc", "text: docID\nvalues: data", {"values": _VALUES}), is_optional=True
)


# --- local storage ----------------------------------------------------------------------------------------------
def get_local_storage(call: Call) -> Any:
    return _local(call)


def get_local_value(call: Call) -> Any:
    return _local(call).get(call.arguments.required_str("key"))


def get_local_values(call: Call) -> Any:
    keys = _keys(call)
    values = _local(call)
    return {key: values.get(key) for key in keys}


def set_local_value(call: Call) -> Any:
    key = call.arguments.required_str("key")
    app = call.arguments.optional_str("app")
    value = _set_values(call, {key: call.arguments.get("val")})[key]
    _tell_apps(call, "setLocalStorageVal", app, {"key": key, "val": value})


def set_local_values(call: Call) -> Any:
    given = call.arguments.required_object("keyVals")
    if not given:
        raise ApiError("Field [keyVals] must not be empty")
    app = call.arguments.optional_str("app")
    _tell_apps(call, "setLocalStorageVals", app, {"keyVals": _set_values(call, given)})


def remove_local_value(call: Call) -> Any:
    key = call.arguments.required_str("key")
    app = call.arguments.optional_str("app")
    _remove_values(call, [key])
    _tell_apps(call, "removeLocalStorageVal", app, {"key": key})


def remove_local_values(call: Call) -> Any:
    keys = _keys(call)
    app = call.arguments.optional_str("app")
    _remove_values(call, keys)
    _tell_apps(call, "removeLocalStorageVals", app, {"keys": keys})


def _keys(call: Call) -> list[str]:
    keys = call.arguments.required_list("keys")
    if not keys:
        raise ApiError("Field [keys] must not be empty")
    for key in keys:
        if not isinstance(key, str):
            raise ApiError("Field [keys]: each element should be of type [String]")
        if not key:
            raise ApiError("Field [keys]: each element must not be empty")
    return keys


def _local(call: Call) -> dict[str, Any]:
    """All of it; a file that cannot be read is as good as empty, as in the kernel."""
    try:
        return stored(call.kernel.workspace.files, LOCAL, _VALUES) or {}
    except StoredJsonInvalid:
        return {}


def _set_values(call: Call, given: dict[str, Any]) -> dict[str, Any]:
    missing = next((key for key, value in given.items() if value is None), None)
    if missing is not None:
        raise ApiError(f"local storage value for key [{missing}] must not be empty")
    values: dict[str, Any] = plain(given)
    store(call.kernel.workspace.files, LOCAL, _VALUES, {**_local(call), **values})
    return values


def _remove_values(call: Call, keys: list[str]) -> None:
    left = {key: value for key, value in _local(call).items() if key not in keys}
    store(call.kernel.workspace.files, LOCAL, _VALUES, left)


def _tell_apps(call: Call, cmd: str, app: str, data: Any) -> None:
    call.kernel.workspace.emit(cmd, data, to=MAIN, push_mode=TO_OTHER_APPS, app=app, excludes_app=app)


# --- search criteria --------------------------------------------------------------------------------------------
def get_criteria(call: Call) -> Any:
    try:
        return stored(call.kernel.workspace.files, CRITERIA, _CRITERIA) or []
    except StoredJsonInvalid:
        return []


def set_criterion(call: Call) -> Any:
    given = call.arguments.get("criterion")
    if given is None:
        raise ApiError("Field [criterion] is required")
    criterion = fitted(CRITERION, given)
    if not criterion["name"]:
        raise ApiError(NAME_EMPTY)
    criteria = listed(call, CRITERIA, _CRITERIA)
    names = [one["name"] for one in criteria]
    if criterion["name"] in names:
        criteria[names.index(criterion["name"])] = criterion
    else:
        criteria.append(criterion)
    store(call.kernel.workspace.files, CRITERIA, _CRITERIA, criteria)


def remove_criterion(call: Call) -> Any:
    name = call.arguments.required_str("name")
    _drop_first(call, CRITERIA, _CRITERIA, "name", name, indent=2)


# --- outlines ---------------------------------------------------------------------------------------------------
def get_outline_storage(call: Call) -> Any:
    document = call.arguments.required_str("docID")
    outlines = listed(call, OUTLINES, _OUTLINES)
    return next((one["data"] for one in outlines if one["docID"] == document), {})


def set_outline_storage(call: Call) -> Any:
    document = call.arguments.required_str("docID")
    value = plain(call.arguments.required_object("val"))
    others = [one for one in listed(call, OUTLINES, _OUTLINES) if one["docID"] != document]
    outlines = [{"docID": document, "data": value}, *others][:OUTLINES_MAX]
    store(call.kernel.workspace.files, OUTLINES, _OUTLINES, outlines, indent=None)


def remove_outline_storage(call: Call) -> Any:
    document = call.arguments.required_str("docID")
    _drop_first(call, OUTLINES, _OUTLINES, "docID", document, indent=None)


def _drop_first(call: Call, path: str, kind: ListOf, field: str, value: str, *, indent: int | None) -> None:
    records = listed(call, path, kind)
    found = next((place for place, one in enumerate(records) if one[field] == value), None)
    if found is not None:
        del records[found]
    store(call.kernel.workspace.files, path, kind, records, indent=indent)


def listed(call: Call, path: str, kind: ListOf) -> list[dict[str, Any]]:
    """The records in a file; one that cannot be read is an error."""
    try:
        found = stored(call.kernel.workspace.files, path, kind)
    except StoredJsonInvalid as error:
        raise ApiError(str(error)) from error
    return [one for one in found or [] if one is not None]


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/storage/getLocalStorage": get_local_storage,
    "/api/storage/getLocalStorageVal": get_local_value,
    "/api/storage/getLocalStorageVals": get_local_values,
    "/api/storage/setLocalStorage": deprecated,
    "/api/storage/setLocalStorageVal": set_local_value,
    "/api/storage/setLocalStorageVals": set_local_values,
    "/api/storage/removeLocalStorageVal": remove_local_value,
    "/api/storage/removeLocalStorageVals": remove_local_values,
    "/api/storage/getCriteria": get_criteria,
    "/api/storage/setCriterion": set_criterion,
    "/api/storage/removeCriterion": remove_criterion,
    "/api/storage/getOutlineStorage": get_outline_storage,
    "/api/storage/setOutlineStorage": set_outline_storage,
    "/api/storage/removeOutlineStorage": remove_outline_storage,
}
