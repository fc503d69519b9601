"""/api/system: what the kernel says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

# The emulated kernel (decision 3).
KERNEL_VERSION: Final = "3.7.3"


def version(call: Call) -> Any:
    return KERNEL_VERSION


def boot_progress(call: Call) -> Any:
    """A kernel that answers is a kernel that has booted: the port opens last."""
    return {"details": f"v{KERNEL_VERSION} Finishing boot...", "progress": 100}


def current_time(call: Call) -> Any:
    return call.kernel.clock.wall_ms()


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/system/version": version,
    "/api/system/bootProgress": boot_progress,
    "/api/system/currentTime": current_time,
}
