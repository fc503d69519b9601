"""[core] Functions on texts, as the Sprig library names them."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from kernel.workspace.limits import TEMPLATE_OUTPUT_CHARS_MAX
from kernel.workspace.patterns import Pattern, PatternInvalid, compiled
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.values import NO_VALUE, int_of, quoted, text_of

_CAMEL: Final = re.compile(r"[_\-\s]+")
_WORD: Final = re.compile(r"([^_\-\s]+)([_\-\s]*)")
_PORT: Final = re.compile(r":\d*\Z")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")


def strings_of(values: Any) -> list[str]:
    """A list, or one value, as strings; nil is left out."""
    listed = values if isinstance(values, list | tuple) else [values]
    return [text_of(value) for value in listed if value is not None and value is not NO_VALUE]


def _sorted(values: Any) -> list[str]:
    return sorted(strings_of(values)) if isinstance(values, list | tuple) else [text_of(values)]


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


def _camel(text: str) -> str:
    """Of several joints between two words all but one stay, and all those at the ends."""
    body = text.lstrip("_- \t\n")
    if not body:
        return text + text[-1:]
    words = _WORD.findall(body)
    shown = [_capital(word) + (gap[:-1] if at < len(words) else gap) for at, (word, gap) in enumerate(words, 1)]
    return text[: len(text) - len(body)] + "".join(shown)


def _capital(word: str) -> str:
    """A word of capitals becomes a small one, up to its first small letter."""
    rest = word[1:]
    if word[0].isupper():
        capitals = len(rest) - len(rest.lstrip("".join({char for char in rest if char.isupper()})))
        rest = rest[:capitals].lower() + rest[capitals:]
    return _upper(word[0]) + rest


def _upper(text: str) -> str:
    """Letter by letter: one that has no single capital stays."""
    return "".join(char if len(char.upper()) > 1 else char.upper() for char in text)


def _snake(text: Any, joint: str = "_") -> str:
    parted = re.sub(r"([a-z\d])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", text_of(text))
    return _CAMEL.sub(joint, parted).lower()


def _swapped(text: Any) -> str:
    return text_of(text).swapcase()


def _indent(width: Any, text: Any) -> str:
    pad = " " * min(max(int_of(width), 0), 1024)
    return pad + text_of(text).replace("\n", f"\n{pad}")


def _wrap(width: int, text: str, joint: str = "\n", *, cuts: bool = False) -> str:
    """Lines of at most so many characters, broken at a blank; ``cuts``: words that are longer, too."""
    size, at, lines = max(width, 1), 0, []
    while len(text) - at > size:
        if text[at] == " ":
            at += 1
            continue
        end = text.rfind(" ", at, at + size + 1)
        if end < 0 and cuts:
            lines.append(text[at : at + size])
            at += size
            continue
        end = end if end >= 0 else text.find(" ", at + size)
        if end < 0:
            break
        lines.append(text[at:end])
        at = end + 1
    return joint.join([*lines, text[at:]])


def _plural(one: Any, many: Any, count: Any) -> str:
    return text_of(one) if int_of(count) == 1 else text_of(many)


def _split(separator: Any, text: Any) -> dict[str, str]:
    parts = text_of(text).split(text_of(separator)) if text_of(separator) else list(text_of(text))
    return {f"_{place}": part for place, part in enumerate(parts)}


def _splitn(separator: Any, count: Any, text: Any) -> dict[str, str]:
    size = int_of(count)
    if separator:
        parts = text.split(separator, size - 1 if size > 0 else -1) if size else []
    else:
        parts = [*text[: size - 1], text[size - 1 :]] if 0 < size < len(text) else list(text) if size else []
    return {f"_{place}": part for place, part in enumerate(parts)}


def _given(values: tuple[Any, ...]) -> list[str]:
    return [text_of(value) for value in values if value is not None and value is not NO_VALUE]


def _replace(old: Any, new: Any, text: Any) -> str:
    return text_of(text).replace(text_of(old), text_of(new))


# --- regular expressions ---------------------------------------------------------------------------------------------
def _pattern(text: str, *, must: bool = False) -> Pattern:
    try:
        return compiled(text)
    except PatternInvalid as error:
        raise FunctionFailed(str(error) if must else f"regexp: Compile(`{text}`): {error}") from error


def _is_match(pattern: Any, text: Any) -> bool:
    """A pattern that is none matches nothing."""
    try:
        return compiled(text_of(pattern)).matches(text_of(text))
    except PatternInvalid:
        return False


def _regex_functions(*, must: bool) -> dict[str, Callable[..., Any]]:
    """``must``: those that give an error as it is; the others break off with it."""

    def replace_all(pattern: str, text: str, template: str) -> str:
        return _pattern(pattern, must=must).expanded(text, template)

    def replace_literally(pattern: str, text: str, new: str) -> str:
        return _pattern(pattern, must=must).replaced(text, lambda _: new)

    def find_all(pattern: str, text: str, count: int) -> list[str]:
        found = list(_pattern(pattern, must=must).finds(text))
        return found if count < 0 else found[:count]

    def split(pattern: str, text: str, limit: int) -> list[str]:
        return [] if limit == 0 else _pattern(pattern, must=must).split(text, max(limit, 0))

    def find(pattern: str, text: str) -> str:
        return next(_pattern(pattern, must=must).finds(text), "")

    named: dict[str, Callable[..., Any]] = {
        "regexFind": find,
        "regexFindAll": find_all,
        "regexReplaceAll": replace_all,
        "regexReplaceAllLiteral": replace_literally,
        "regexSplit": split,
    }
    return {f"mustR{name[1:]}" if must else name: function for name, function in named.items()}


_STRANGE_TO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_STRANGE_TO_BASE32: Final = re.compile(r"[^A-Z2-7]")


# --- encodings and addresses -----------------------------------------------------------------------------------------
def _b64dec(text: str) -> str:
    plain = text.replace("\r", "").replace("\n", "")
    if not _BASE64.fullmatch(plain):
        return f"illegal base64 data at input byte {_first_strange(text, _STRANGE_TO_BASE64, 4)}"
    return base64.b64decode(plain).decode("utf-8", "replace")


def _b32dec(text: str) -> str:
    try:
        return base64.b32decode(text.replace("\r", "").replace("\n", "")).decode("utf-8", "replace")
    except ValueError:
        return f"illegal base32 data at input byte {_first_strange(text, _STRANGE_TO_BASE32, 8)}"


def _first_strange(text: str, strange: re.Pattern[str], width: int) -> int:
    """Where encoded text is none: at a foreign character, else where its last group begins, which is too short."""
    found = strange.search(text)
    if found is not None and found[0] == "=" and found.start() % width == width - 1:
        return found.end()  # what is complete has something behind it
    return len(text[: found.start()].encode()) if found is not None else len(text) // width * width


def _digest(name: str) -> Callable[[Any], str]:
    return lambda text: hashlib.new(name, text_of(text).encode(), usedforsecurity=False).hexdigest()


def _url_parse(text: str) -> dict[str, Any]:
    """Raises FunctionFailed."""
    wrong = ""
    if escape := _BAD_ESCAPE.search(text):
        wrong = f'invalid URL escape "{escape[0]}"'
    elif text.startswith(":"):
        wrong = "missing protocol scheme"
    if wrong:
        raise FunctionFailed(f'unable to parse url: parse "{text}": {wrong}')
    parts = urlsplit(text)
    is_opaque = bool(parts.scheme) and not parts.netloc and not parts.path.startswith("/")
    return {
        "scheme": parts.scheme,
        "host": parts.netloc.rpartition("@")[2],
        "hostname": _PORT.sub("", parts.netloc.rpartition("@")[2]).strip("[]"),
        "path": "" if is_opaque else unquote(parts.path),
        "query": parts.query,
        "opaque": parts.path if is_opaque else "",
        "fragment": unquote(parts.fragment),
        "userinfo": parts.netloc.rpartition("@")[0],
    }


def _url_join(parts: dict[str, Any]) -> str:
    scheme, host, path, query, fragment, user, opaque = (
        text_of(parts.get(name, "")) for name in ("scheme", "host", "path", "query", "fragment", "userinfo", "opaque")
    )
    if opaque:
        return urlunsplit((scheme, "", opaque, query, fragment))
    return urlunsplit((scheme, f"{user}@{host}" if user else host, path, query, fragment))


TEXT_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abbrev": _abbrev,
    "abbrevboth": _abbrevboth,
    "trunc": _trunc,
    "trim": lambda text: text_of(text).strip(),
    "trimAll": lambda cut, text: text_of(text).strip(text_of(cut)),
    "trimall": lambda cut, text: text_of(text).strip(text_of(cut)),
    "trimPrefix": lambda cut, text: text_of(text).removeprefix(text_of(cut)),
    "trimSuffix": lambda cut, text: text_of(text).removesuffix(text_of(cut)),
    "upper": _upper,
    "lower": lambda text: text_of(text).lower(),
    "title": _title,
    "untitle": lambda text: re.sub(r"(?<!\S)\S", lambda found: found[0].lower(), text),
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
    "wrapWith": lambda width, joint, text: _wrap(width, text, joint or "\n", cuts=True),
    "contains": lambda part, text: text_of(part) in text_of(text),
    "hasPrefix": lambda part, text: text_of(text).startswith(text_of(part)),
    "hasSuffix": lambda part, text: text_of(text).endswith(text_of(part)),
    "quote": lambda *values: " ".join(quoted(text, '"') for text in _given(values)),
    "squote": lambda *values: " ".join(f"'{text}'" for text in _given(values)),
    "cat": lambda *values: " ".join(_given(values)),
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
    "sortAlpha": _sorted,
    "toStrings": strings_of,
    "regexMatch": _is_match,
    "mustRegexMatch": lambda pattern, text: _pattern(pattern, must=True).matches(text),
    **_regex_functions(must=False),
    **_regex_functions(must=True),
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
