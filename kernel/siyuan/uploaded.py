"""What comes in a multipart form; a JSON file in one, as it is or as the only entry of a ZIP archive."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

from kernel.siyuan.arguments import ApiError

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call, Form

NOT_A_FORM: Final = "request Content-Type isn't multipart/form-data"


def multipart_form(call: Call) -> Form:
    """The form, where the call brought one that may hold files. Raises ApiError."""
    if call.form is None or not call.form.is_multipart:
        raise ApiError(NOT_A_FORM)
    return call.form


def uploaded_json(call: Call, bad_package: str) -> bytes:
    """The content of the JSON file in the form's field ``file``.

    Raises:
        ApiError: there is none; ``bad_package`` is said where it is another kind of file.
    """
    given = [file for file in multipart_form(call).files if file.field == "file"]
    if len(given) != 1:
        raise ApiError("invalid upload file")
    name = given[0].name.lower()
    if name.endswith(".json"):
        return given[0].content
    if not name.endswith(".zip"):
        raise ApiError(bad_package)
    try:
        with zipfile.ZipFile(io.BytesIO(given[0].content)) as archive:
            names = archive.namelist()
            if len(names) != 1 or names[0].endswith("/"):
                raise ApiError(bad_package)
            return archive.read(names[0])
    except zipfile.BadZipFile:
        raise ApiError("zip: not a valid zip file") from None
