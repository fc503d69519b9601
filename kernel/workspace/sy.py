"""[core] The ``.sy`` codec: bytes to tree and back, byte for byte as the kernel writes them (siyuan-markdown section 4).

Neither direction recurses, so that depth is bounded by nothing but the file. Opens no files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final

from kernel.workspace.deep_json import DeepJsonError, loads_deep
from kernel.workspace.mending import mend
from kernel.workspace.nodes import BLOCK_TYPES, FIELD_ORDER, KINDS, LIST_DATA_ORDER, SPEC_CURRENT
from kernel.workspace.tree import Node

# What marks a node as a child too few: the kernel ignores such a block when it reads a file.
_CHILDREN_MIN: Final = {
    "NodeList": 1,
    "NodeListItem": 1,
    "NodeBlockquote": 2,
    "NodeSuperBlock": 4,
    "NodeMathBlock": 1,
    "NodeBlockQueryEmbed": 1,
}
_SPEC_BEFORE_CALLOUTS: Final = "1"  # nothing else has changed since
_NEVER_STORED: Final = frozenset({"refcount", "av-names"})
_OWN_MEMBERS: Final = frozenset({"ID", "Type", "Data", "Properties", "Children"})
_ALWAYS_WRITTEN: Final = frozenset({"ListData", "TableAligns"})
_MEMBERS: Final = tuple(name for name in FIELD_ORDER if name not in _OWN_MEMBERS)
_BEFORE_PROPERTIES: Final = tuple(
    name for name in _MEMBERS if FIELD_ORDER.index(name) < FIELD_ORDER.index("Properties")
)
_AFTER_PROPERTIES: Final = tuple(name for name in _MEMBERS if name not in _BEFORE_PROPERTIES)
_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    | {chr(code): "�" for code in range(0xD800, 0xE000)}
)


class SyError(ValueError):
    """A file that is no readable document, or a tree that cannot be one. The message says what is wrong with it."""


class DuplicateId(SyError):
    """An id that two blocks of one document carry."""


def decode(data: bytes, *, new_id: Callable[[], str] | None = None) -> Node:
    """The tree in the bytes of a ``.sy`` file.

    Without ``new_id`` the tree is given as it lies in the file, and an id that occurs twice is an error. With it the
    file is read as the kernel reads it: ``repair`` gives later duplicates and nameless blocks fresh ids.

    Raises:
        SyError: not JSON, not a document, of a newer specification, or inconsistent.
    """
    document = _loads(data)
    if not isinstance(document, dict) or document.get("Type") != "NodeDocument":
        raise SyError("the file is not a document: its top node is not a NodeDocument")
    _check_spec(document.get("Spec", ""))
    root = _node(document)
    if not root.id:
        raise SyError("the document has no ID")
    pending = [(root, document)]
    while pending:
        node, source = pending.pop()
        children = source.get("Children", [])
        if children is None:
            continue
        if not isinstance(children, list):
            raise SyError(f"the Children of a {node.type} are not a list")
        for child_source in children:
            child = _node(child_source)
            node.append(child)
            pending.append((child, child_source))
    if new_id is None:
        check_ids(root)
    else:
        repair(root, new_id)
    return root


def encode(root: Node) -> bytes:
    """The bytes of the ``.sy`` file for a document: one line, no final newline.

    Raises:
        SyError: the tree runs in a circle, or holds a value that no file can carry.
    """
    parts: list[str] = []
    open_nodes: set[int] = set()
    stack: list[Node | str] = [root]
    closing: list[Node] = []
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            parts.append(entry)
            if entry == "]}":
                open_nodes.discard(id(closing.pop()))
            continue
        if id(entry) in open_nodes:
            raise SyError(f"the tree runs in a circle at {entry.type} {entry.id}".rstrip())
        parts.append(_members(entry))
        if not entry.children:
            parts.append("}")
            continue
        open_nodes.add(id(entry))
        closing.append(entry)
        parts.append(',"Children":[')
        stack.append("]}")
        for position in range(len(entry.children) - 1, -1, -1):
            stack.append(entry.children[position])
            if position:
                stack.append(",")
    return "".join(parts).encode("utf-8")


def check_ids(root: Node) -> None:
    """Raises SyError when two blocks carry one id."""
    seen: set[str] = set()
    for node in root.walk():
        if not node.id:
            continue
        if node.id in seen:
            raise DuplicateId(f"the id {node.id} occurs twice")
        seen.add(node.id)


def repair(root: Node, new_id: Callable[[], str]) -> bool:
    """Put right what the kernel puts right when it reads a file; whether anything changed.

    Childless containers are dropped, unknown types become paragraphs, blocks without an id and later holders of a used
    id get fresh ones, ``Properties.id`` follows ``ID``, an empty document gets a paragraph, and what ``mending`` knows.
    """
    changed = _drop_hollow(root) | mend(root)
    if root.fields.get("Spec") == _SPEC_BEFORE_CALLOUTS:
        root.fields["Spec"], changed = str(SPEC_CURRENT), True
    seen: set[str] = {root.id}
    for node in list(root.walk())[1:]:
        changed |= mend(node)
        if node.type not in KINDS:
            node.append(Node("NodeText", data=node.data))
            node.type, node.data, node.fields, changed = "NodeParagraph", "", {}, True
        if node.type not in BLOCK_TYPES:
            continue
        if not node.id or node.id in seen:
            node.id = new_id()
        seen.add(node.id)
        if node.properties.get("id") != node.id:
            node.properties["id"] = node.id
            changed = True
    if root.properties.get("type") != "doc":
        root.properties["type"] = "doc"
        changed = True
    if not root.children:
        fresh = new_id()
        root.append(Node("NodeParagraph", id=fresh, properties={"id": fresh, "updated": fresh[:14]}))
        changed = True
    return changed


def _drop_hollow(root: Node) -> bool:
    """Remove the blocks that have too few children to be shown.

    What they leave with too few is still there: the kernel drops it only when it reads what it has written next.
    """
    hollow: list[Node] = []
    pending = [root]
    while pending:
        for child in pending.pop().children:
            (hollow if is_hollow(child) else pending).append(child)
    for node in hollow:
        node.detach()
    return bool(hollow)


def is_hollow(node: Node) -> bool:
    """Whether a block has too few children to be read from a file."""
    if node.type == "NodeCodeBlock":
        return len(node.children) < 4 and all(child.type != "NodeCodeBlockCode" for child in node.children)
    return len(node.children) < _CHILDREN_MIN.get(node.type, 0)


def _loads(data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SyError(f"the file is not UTF-8: {error.reason} at byte {error.start}") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SyError(f"the file is not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError:
        pass  # nested deeper than the interpreter's own reader goes
    try:
        return loads_deep(text)
    except DeepJsonError as error:
        raise SyError(f"the file is not JSON: {error}") from error


def _check_spec(spec: Any) -> None:
    if not isinstance(spec, str) or not (spec == "" or spec.isdecimal()):
        raise SyError(f"the document's Spec is not a number: {spec!r}")
    if spec and int(spec) > SPEC_CURRENT:
        raise SyError(f"the document is of specification {spec}; this kernel reads up to {SPEC_CURRENT}")


def _node(source: Any) -> Node:
    if not isinstance(source, dict):
        raise SyError(f"a node is not an object: {str(source)[:40]!r}")
    type_, identity, data = source.get("Type", ""), source.get("ID", ""), source.get("Data", "")
    properties = source.get("Properties") or {}
    if not (isinstance(type_, str) and isinstance(identity, str) and isinstance(data, str)):
        raise SyError("a node's Type, ID or Data is not a string")
    if not isinstance(properties, dict) or not all(isinstance(value, str) for value in properties.values()):
        raise SyError(f"the Properties of {type_} {identity} are not strings".rstrip())
    fields = {name: value for name, value in source.items() if name in _MEMBER_SET}
    return Node(type_, id=identity, data=data, properties=properties, fields=fields)


_MEMBER_SET: Final = frozenset(_MEMBERS)


def _members(node: Node) -> str:
    """The opening brace and all members of one node but its children."""
    parts = []
    if node.id:
        parts.append(f'"ID":{_string(node.id)}')
    if spec := node.fields.get("Spec"):
        parts.append(f'"Spec":{_value(node, "Spec", spec)}')
    parts.append(f'"Type":"{node.type}"')
    if node.data:
        parts.append(f'"Data":{_string(node.data)}')
    if node.fields:
        parts += _fields(node, _BEFORE_PROPERTIES)
    if properties := {key: value for key, value in node.properties.items() if key not in _NEVER_STORED}:
        members = (f"{_string(key)}:{_string(properties[key])}" for key in sorted(properties, key=_utf8))
        parts.append('"Properties":{' + ",".join(members) + "}")
    if node.fields:
        parts += _fields(node, _AFTER_PROPERTIES)
    return "{" + ",".join(parts)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _fields(node: Node, names: tuple[str, ...]) -> list[str]:
    return [
        f'"{name}":{_value(node, name, node.fields[name])}'
        for name in names
        if name != "Spec" and name in node.fields and (node.fields[name] or name in _ALWAYS_WRITTEN)
    ]


def _value(node: Node, name: str, value: Any) -> str:
    if name == "ListData":
        value = {key: value[key] for key in LIST_DATA_ORDER if value.get(key)}
    if isinstance(value, str):
        return _string(value)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)
    except (TypeError, ValueError, RecursionError) as error:
        raise SyError(f"{name} of {node.type} {node.id} cannot be stored") from error


def _string(text: str) -> str:
    return encode_basestring(text).translate(_ESCAPES)
