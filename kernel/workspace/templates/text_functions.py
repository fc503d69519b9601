"""[core] Functions on texts, as the Sprig library names them."""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
import zlib
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from kernel.workspace.limits import TEMPLATE_OUTPUT_CHARS_MAX
from kernel.workspace.patterns import Pattern, PatternInvalid, compiled
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.values import int_of, text_of

_CAMEL: Final = re.compile(r"[_\-\s]+")


def strings_of(values: Any) -> list[str]:
    """A list, or one value, as strings; nil members are left out."""
    if isinstance(values, list | tuple):
        return [text_of(value) for value in values if value is not None]
    return [text_of(values)]


def _repeat(count: Any, text: Any) -> str:
    times = int_of(count)
    if times < 0:
        raise FunctionFailed("strings: negative Repeat count")
    if times * len(text_of(text)) > TEMPLATE_OUTPUT_CHARS_MAX:
        raise FunctionFailed("strings: Repeat output length overflow")
    return text_of(text) * times


def _substr(start: Any, end: Any, text: Any) -> str:
    """From one byte to another one."""
    first, last = int_of(start), int_of(end)
    shown = text_of(text).encode()
    last = len(shown) if first >= 0 and (last < 0 or last > len(shown)) else last
    if last < 0 or first > last:
        raise FunctionFailed(f"runtime error: slice bounds out of range [{first if first >= 0 else ''}:{last}]")
    return shown[max(first, 0) : last].decode("utf-8", "replace")


def _trunc(count: Any, text: Any) -> str:
    """The first bytes, or with a negative count the last ones."""
    size, shown = int_of(count), text_of(text).encode()
    part = shown[:size] if size >= 0 else shown[size:]
    return part.decode("utf-8", "replace")


def _abbrev(width: Any, text: Any) -> str:
    return _abbrevboth(0, width, text)


def _abbrevboth(left: Any, right: Any, text: Any) -> str:
    """A text of at most so many bytes, with dots for what is left out."""
    first, size, shown = int_of(left), int_of(right), text_of(text).encode()
    if size < 4 or (first > 0 and size < 7) or len(shown) <= size:
        part = shown
    elif first <= 4:
        part = shown[: size - 3] + b"..."
    elif len(shown) - first < size - 3:
        part = b"..." + shown[-(size - 3) :]
    else:
        part = b"..." + shown[first : first + size - 6] + b"..."
    return part.decode("utf-8", "replace")


def _title(text: Any) -> str:
    """The first letter of each word large, the others as they are."""
    return re.sub(r"(?<![^\W_])[^\W\d_]", lambda found: found[0].upper(), text_of(text))


def _camel(text: Any) -> str:
    return "".join(part[:1].upper() + part[1:] for part in _CAMEL.split(text_of(text)))


def _snake(text: Any, joint: str = "_") -> str:
    parted = re.sub(r"([a-z\d])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", text_of(text))
    return _CAMEL.sub(joint, parted).lower()


def _swapped(text: Any) -> str:
    return text_of(text).swapcase()


def _indent(width: Any, text: Any) -> str:
    pad = " " * min(max(int_of(width), 0), 1024)
    return pad + text_of(text).replace("\n", f"\n{pad}")


def _wrap(width: Any, text: Any, joint: str = "\n") -> str:
    size = max(int_of(width), 1)
    lines = textwrap.wrap(text_of(text), size, break_long_words=False, break_on_hyphens=False)
    return joint.join(lines)


def _plural(one: Any, many: Any, count: Any) -> str:
    return text_of(one) if int_of(count) == 1 else text_of(many)


def _split(separator: Any, text: Any) -> dict[str, str]:
    parts = text_of(text).split(text_of(separator)) if text_of(separator) else list(text_of(text))
    return {f"_{place}": part for place, part in enumerate(parts)}


def _splitn(separator: Any, count: Any, text: Any) -> dict[str, str]:
    size = int_of(count)
    parts = text_of(text).split(text_of(separator), size - 1 if size > 0 else -1) if size else []
    return {f"_{place}": part for place, part in enumerate(parts)}


def _quoted(*values: Any) -> str:
    shown = (text_of(value) for value in values if value is not None)
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for text in shown)
    return " ".join(f'"{text}"' for text in escaped)


def _replace(old: Any, new: Any, text: Any) -> str:
    return text_of(text).replace(text_of(old), text_of(new))


# --- regular expressions ---------------------------------------------------------------------------------------------
def _pattern(text: Any) -> Pattern:
    try:
        return compiled(text_of(text))
    except PatternInvalid as error:
        raise FunctionFailed(str(error)) from error


def _is_match(pattern: Any, text: Any) -> bool:
    """A pattern that is none matches nothing."""
    try:
        return compiled(text_of(pattern)).matches(text_of(text))
    except PatternInvalid:
        return False


def _regex_replace_all(pattern: Any, text: Any, template: Any) -> str:
    return _pattern(pattern).expanded(text_of(text), text_of(template))


def _regex_replace_literally(pattern: Any, text: Any, new: Any) -> str:
    return _pattern(pattern).replaced(text_of(text), lambda _: text_of(new))


def _regex_find_all(pattern: Any, text: Any, count: Any) -> list[str]:
    found = list(_pattern(pattern).finds(text_of(text)))
    return found if int_of(count) < 0 else found[: int_of(count)]


def _regex_split(pattern: Any, text: Any, count: Any) -> list[str]:
    limit = int_of(count)
    return [] if limit == 0 else _pattern(pattern).split(text_of(text), max(limit, 0))


def _regex_find(pattern: Any, text: Any) -> str:
    found = next(_pattern(pattern).finds(text_of(text)), None)
    return found if found is not None else ""


_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]")
_NOT_BASE32: Final = re.compile(r"[^A-Z2-7]")


# --- encodings and addresses -----------------------------------------------------------------------------------------
def _b64dec(text: Any) -> str:
    given = text_of(text)
    try:
        return base64.b64decode(given, validate=True).decode("utf-8", "replace")
    except ValueError:
        return f"illegal base64 data at input byte {_first_strange(given, _NOT_BASE64, 4)}"


def _b32dec(text: Any) -> str:
    given = text_of(text)
    try:
        return base64.b32decode(given).decode("utf-8", "replace")
    except ValueError:
        return f"illegal base32 data at input byte {_first_strange(given, _NOT_BASE32, 8)}"


def _first_strange(text: str, strange: re.Pattern[str], width: int) -> int:
    """Where encoded text is none: at a foreign character, else where its last group begins, which is too short."""
    found = strange.search(text)
    return len(text[: found.start()].encode()) if found is not None else len(text) // width * width


def _digest(name: str) -> Callable[[Any], str]:
    return lambda text: hashlib.new(name, text_of(text).encode(), usedforsecurity=False).hexdigest()


def _url_parse(text: Any) -> dict[str, Any]:
    parts = urlsplit(text_of(text))
    user = parts.netloc.rpartition("@")[0]
    return {
        "scheme": parts.scheme,
        "host": parts.netloc.rpartition("@")[2],
        "hostname": parts.hostname or "",
        "path": parts.path,
        "query": parts.query,
        "opaque": "",
        "fragment": parts.fragment,
        "userinfo": user,
    }


def _url_join(parts: dict[str, Any]) -> str:
    user = text_of(parts.get("userinfo", ""))
    host = f"{user}@{parts.get('host', '')}" if user else text_of(parts.get("host", ""))
    members = (parts.get(name, "") for name in ("path", "query", "fragment"))
    return urlunsplit((text_of(parts.get("scheme", "")), host, *(text_of(one) for one in members)))


TEXT_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abbrev": _abbrev,
    "abbrevboth": _abbrevboth,
    "trunc": _trunc,
    "trim": lambda text: text_of(text).strip(),
    "trimAll": lambda cut, text: text_of(text).strip(text_of(cut)),
    "trimall": lambda cut, text: text_of(text).strip(text_of(cut)),
    "trimPrefix": lambda cut, text: text_of(text).removeprefix(text_of(cut)),
    "trimSuffix": lambda cut, text: text_of(text).removesuffix(text_of(cut)),
    "upper": lambda text: text_of(text).upper(),
    "lower": lambda text: text_of(text).lower(),
    "title": _title,
    "untitle": lambda text: re.sub(r"\b\w", lambda found: found[0].lower(), text_of(text)),
    "substr": _substr,
    "repeat": _repeat,
    "nospace": lambda text: re.sub(r"\s", "", text_of(text)),
    # The first byte of each word, taken for a character of its own.
    "initials": lambda text: "".join(chr(word.encode()[0]) for word in text_of(text).split()),
    "swapcase": _swapped,
    "snakecase": _snake,
    "kebabcase": lambda text: _snake(text, "-").replace("_", "-"),
    "camelcase": _camel,
    "wrap": _wrap,
    "wrapWith": lambda width, joint, text: _wrap(width, text, text_of(joint)),
    "contains": lambda part, text: text_of(part) in text_of(text),
    "hasPrefix": lambda part, text: text_of(text).startswith(text_of(part)),
    "hasSuffix": lambda part, text: text_of(text).endswith(text_of(part)),
    "quote": _quoted,
    "squote": lambda *values: " ".join(f"'{text_of(value)}'" for value in values if value is not None),
    "cat": lambda *values: " ".join(text_of(value) for value in values if value is not None),
    "indent": _indent,
    "nindent": lambda width, text: f"\n{_indent(width, text)}",
    "replace": _replace,
    "plural": _plural,
    "toString": text_of,
    "split": _split,
    "splitn": _splitn,
    "splitList": lambda separator, text: (
        text_of(text).split(text_of(separator)) if text_of(separator) else list(text_of(text))
    ),
    "join": lambda separator, values: text_of(separator).join(strings_of(values)),
    "sortAlpha": lambda values: sorted(strings_of(values)),
    "toStrings": strings_of,
    "regexMatch": _is_match,
    "mustRegexMatch": lambda pattern, text: _pattern(pattern).matches(text_of(text)),
    "regexFind": _regex_find,
    "mustRegexFind": _regex_find,
    "regexFindAll": _regex_find_all,
    "mustRegexFindAll": _regex_find_all,
    "regexReplaceAll": _regex_replace_all,
    "mustRegexReplaceAll": _regex_replace_all,
    "regexReplaceAllLiteral": _regex_replace_literally,
    "mustRegexReplaceAllLiteral": _regex_replace_literally,
    "regexSplit": _regex_split,
    "mustRegexSplit": _regex_split,
    "regexQuoteMeta": lambda text: re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text_of(text)),
    "b64enc": lambda text: base64.b64encode(text_of(text).encode()).decode(),
    "b64dec": _b64dec,
    "b32enc": lambda text: base64.b32encode(text_of(text).encode()).decode(),
    "b32dec": _b32dec,
    "sha1sum": _digest("sha1"),
    "sha256sum": _digest("sha256"),
    "sha512sum": _digest("sha512"),
    "adler32sum": lambda text: str(zlib.adler32(text_of(text).encode())),
    "urlParse": _url_parse,
    "urlJoin": _url_join,
    "hello": lambda: "Hello!",
}
