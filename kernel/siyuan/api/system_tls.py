"""/api/system: the certificate authority of a workspace that a real kernel has served with TLS. Ours serves none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import ApiError
from kernel.siyuan.exports import offer, zipped
from kernel.siyuan.uploaded import NOT_A_FORM

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

CERTIFICATE: Final = "ca.crt"
KEY: Final = "ca.key"
BUNDLE: Final = "ca-bundle.zip"
NO_CERTIFICATE: Final = "CA certificate not found"
NO_BUNDLE: Final = "CA certificate not found, please enable TLS first"
NO_FILE: Final = "[file] is required: %s"
# TLS is not served (decision 57; docs/differences.md).
NO_TLS: Final = "TLS is not served by this kernel"


def export_certificate(call: Call) -> Any:
    files = call.kernel.workspace.files
    if not files.exists(f"conf/{CERTIFICATE}"):
        raise ApiError(NO_CERTIFICATE)
    return {"path": offer(files, CERTIFICATE, files.read(f"conf/{CERTIFICATE}"))}


def export_bundle(call: Call) -> Any:
    files = call.kernel.workspace.files
    names = (CERTIFICATE, KEY)
    if not all(files.exists(f"conf/{name}") for name in names):
        raise ApiError(NO_BUNDLE)
    return {"path": offer(files, BUNDLE, zipped({name: files.read(f"conf/{name}") for name in names}))}


def import_bundle(call: Call) -> Any:
    if call.form is None or not call.form.is_multipart:
        raise ApiError(NO_FILE % NOT_A_FORM)
    if all(file.field != "file" for file in call.form.files):
        raise ApiError(NO_FILE % "http: no such file")
    raise ApiError(NO_TLS)


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/exportTLSCACert": export_certificate,
    "/api/system/exportTLSCABundle": export_bundle,
    "/api/system/importTLSCABundle": import_bundle,
}
