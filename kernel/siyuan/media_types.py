"""[core] The type of a file by its name, else by its first bytes: what the recorded kernel said for each."""

from __future__ import annotations

import re
from typing import Final

OCTETS: Final = "application/octet-stream"
PLAIN: Final = "text/plain; charset=utf-8"
SNIFFED_BYTES: Final = 512
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"

_BY_EXTENSION: Final[dict[str, str]] = {
    "7z": "application/x-7z-compressed",
    "aac": "audio/aac",
    "apk": "application/vnd.android.package-archive",
    "avi": "video/x-msvideo",
    "avif": "image/avif",
    "bin": OCTETS,
    "bmp": "image/bmp",
    "c": "text/x-csrc",
    "css": "text/css",
    "csv": "text/csv",
    "dmg": "application/x-apple-diskimage",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "dwf": "drawing/x-dwf",
    "dwg": "image/x-dwg",
    "dxf": "image/x-dxf",
    "epub": "application/epub+zip",
    "exe": OCTETS,
    "flac": "audio/flac",
    "gif": "image/gif",
    "go": "text/x-go",
    "gz": "application/gzip",
    "h": "text/x-chdr",
    "heic": "image/heif",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/x-icon",
    "java": "text/x-java",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "log": "text/x-log",
    "m3u8": "audio/x-mpegurl",
    "m4a": "audio/mp4",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "odt": "application/vnd.oasis.opendocument.text",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "otf": "application/vnd.oasis.opendocument.formula-template",
    "pdf": "application/pdf",
    "png": "image/png",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "psd": "image/vnd.adobe.photoshop",
    "py": "text/x-python",
    "rar": "application/vnd.rar",
    "rtf": "application/rtf",
    "sh": "application/x-shellscript",
    "svg": "image/svg+xml",
    "sy": "application/json",
    "tar": "application/x-tar",
    "tex": "text/x-tex",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "toml": "application/toml",
    "ts": "text/vnd.trolltech.linguist",
    "ttf": "font/ttf",
    "txt": "text/plain",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "audio/webm",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "xml": "text/xml",
    "yaml": "application/x-yaml",
    "yml": "application/x-yaml",
    "zip": "application/zip",
}

# How a file without a known extension begins (the WHATWG sniffing table, as far as files of notes need it).
_MARKUP: Final = re.compile(
    rb"(?:<!DOCTYPE HTML|<(?:HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P))[ >]|<!--",
    re.IGNORECASE,
)
_MAGIC: Final[tuple[tuple[bytes, str], ...]] = (
    (b"<?xml", "text/xml; charset=utf-8"),
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\xfe\xff", "text/plain; charset=utf-16be"),
    (b"\xff\xfe", "text/plain; charset=utf-16le"),
    (b"\xef\xbb\xbf", PLAIN),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07\x00", "application/x-rar-compressed"),
    (b"Rar!\x1a\x07\x01\x00", "application/x-rar-compressed"),
    (b"\x00asm", "application/wasm"),
)
_RIFF: Final = {b"WEBPVP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")

# The extension that a type's file gets: the first of those the recorded kernel knew for it.
_EXTENSIONS: Final[dict[str, str]] = {
    "text/plain": ".asc",
    "text/html": ".ehtml",
    "text/markdown": ".markdown",
    "text/css": ".css",
    "text/javascript": ".js",
    "text/csv": ".csv",
    "text/xml": ".xbl",
    "image/jpeg": ".jfif",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
    "image/avif": ".avif",
    "application/json": ".json",
    "application/xml": ".rng",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "application/msword": ".doc",
    "application/rtf": ".rtf",
    "application/epub+zip": ".epub",
    "application/x-yaml": ".yaml",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "audio/ogg": ".oga",
    "audio/mp4": ".f4a",
    "audio/flac": ".flac",
    "audio/aac": ".aac",
    "video/mp4": ".f4v",
}


def extension_of(media_type: str) -> str:
    """The extension that a file of this type is given, with its dot; empty for an unknown type."""
    return _EXTENSIONS.get(media_type.partition(";")[0].strip().lower(), "")


def type_of(name: str, head: bytes) -> str:
    """The Content-Type of a file; ``head`` are its first bytes (``SNIFFED_BYTES`` are enough)."""
    return type_by_name(name) or sniffed(head)


def type_by_name(name: str) -> str:
    """By the extension alone; empty where it says nothing."""
    found = _BY_EXTENSION.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
    return f"{found}; charset=utf-8" if found.startswith("text/") else found


def sniffed(head: bytes) -> str:
    """By the content alone."""
    head = head[:SNIFFED_BYTES]
    if _MARKUP.match(head.lstrip(b"\t\n\x0c\r ")):
        return "text/html; charset=utf-8"
    for magic, media_type in _MAGIC:
        if head.startswith(magic) or (magic == b"<?xml" and head.lstrip(b"\t\n\x0c\r ").startswith(magic)):
            return media_type
    if head[:4] == b"RIFF":
        for form, media_type in _RIFF.items():
            if head[8:].startswith(form):
                return media_type
    if head[4:8] == b"ftyp":
        return "video/mp4"
    return OCTETS if _BINARY.search(head) else PLAIN


def attachment(name: str) -> str:
    """A Content-Disposition that saves a file under ``name`` (RFC 2183, 5987)."""
    if not name.isascii() or any((char < " " and char != "\t") or char == "\x7f" for char in name):
        encoded = "".join(char if char in _ATTRIBUTE_CHARS else _percent(char) for char in name)
        return f"attachment; filename*=utf-8''{encoded}"
    if re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name):
        return f"attachment; filename={name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'attachment; filename="{quoted}"'


_ATTRIBUTE_CHARS: Final = frozenset("!#$&+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
