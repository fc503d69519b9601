"""Bounds of the host boundary, with their units."""

from __future__ import annotations

from typing import Final

# A read is sent once and, on a transient failure, again after each of these waits (sisyphus-core, host adapter).
READ_RETRY_WAITS_S: Final = (0.3, 0.6, 0.9)
# One request to a remote kernel, from its first byte to the last of its answer, however slowly that comes. Exports and
# snapshots are slow; callers with less patience use a deadline.
REMOTE_REQUEST_S_MAX: Final = 120.0
REMOTE_CONNECT_S_MAX: Final = 5.0
# One answer of a remote kernel, unpacked. A longer one is read no further.
REMOTE_ANSWER_BYTES_MAX: Final = 256 * 1024 * 1024
# How much of a kernel's own message is passed on.
HOST_MESSAGE_CHARS_MAX: Final = 4_096
# What a multipart form may hold beside its file: names, paths, boundaries (R166).
FORM_BYTES_EXTRA: Final = 64 * 1024
# How much of a foreign answer is quoted in an error message.
QUOTED_ANSWER_CHARS_MAX: Final = 200
# Notes to a client that asked for progress, for one list that its call works through.
PROGRESS_NOTES_PER_LIST_MAX: Final = 64
# Piece size of a streamed download.
STREAM_CHUNK_BYTES: Final = 65_536
# One ordinary read action, all its host calls together (R266, R267; kernelOptions may change both).
READ_REQUESTS_MAX: Final = 128
READ_BYTES_MAX: Final = 8 * 1024 * 1024
# Further bytes for file.read_image.
IMAGE_BYTES_EXTRA: Final = 20 * 1024 * 1024
# A scoped read's waits before it is sent again (kernelOptions.readRetries takes the first n).
SCOPED_RETRY_WAITS_S: Final = (0.1, 0.2, 0.4)
