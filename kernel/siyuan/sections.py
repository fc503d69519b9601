"""Sections of the settings in the API's hands: reading what a caller gives, storing it, showing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.siyuan.arguments import ApiError
from kernel.workspace.conf_defaults import SECTIONS
from kernel.workspace.go_struct import Mismatch, read, written

if TYPE_CHECKING:
    from kernel.siyuan.kernel import Call, SiyuanKernel
    from kernel.workspace.go_struct import Kind


def fitted(kind: Kind, given: Any, start: Any = None, *, error_data: Any = None) -> Any:
    """``given`` as a value of a type. Raises ApiError with the kernel's words where it does not fit."""
    try:
        return read(kind, given, start)
    except Mismatch as mismatch:
        raise ApiError(str(mismatch), data=error_data) from mismatch


def given_section(call: Call, name: str, start: Any = None, *, error_data: Any = None) -> dict[str, Any]:
    """The call's arguments as a whole section, over ``start`` (zeros, if None)."""
    section: dict[str, Any] = fitted(SECTIONS[name], call.arguments.values, start, error_data=error_data)
    return section


def store_section(kernel: SiyuanKernel, name: str, section: dict[str, Any]) -> Any:
    """Make it the section that holds from now on; what the API shows of it."""
    kernel.workspace.conf.values[name] = section
    kernel.workspace.conf.save()
    return show_section(kernel, name)


def show_section(kernel: SiyuanKernel, name: str) -> Any:
    """A section as it stands, written out."""
    return written(SECTIONS[name], kernel.workspace.conf.section(name))
