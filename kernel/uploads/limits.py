"""Bounds of the upload staging area (R168-R181), with their units."""

from __future__ import annotations

from typing import Final

from kernel.limits import MIB

FILE_BYTES_MAX: Final = 10 * MIB
ITEMS_MAX: Final = 64
TOTAL_BYTES_MAX: Final = 32 * MIB
# A staged file is kept this long; staging or looking it up again starts anew.
ITEM_TTL_S: Final = 10 * 60
# Uploads whose body is being read or hashed. Past it: 429, before a byte of the body is read.
UPLOADS_AT_ONCE_MAX: Final = 2
UPLOAD_S_MAX: Final = 120.0
FULL_RETRY_S: Final = 1
# After so many bytes of hashing other tasks get a turn.
HASH_STEP_BYTES: Final = 64 * 1024
FILE_NAME_CHARS_MAX: Final = 255
# {fileName, dataBase64}: the file in base64, and room for the name and the frame.
BASE64_CHARS_MAX: Final = (FILE_BYTES_MAX + 2) // 3 * 4
JSON_BODY_BYTES_MAX: Final = BASE64_CHARS_MAX + 4096
