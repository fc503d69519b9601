"""What one process is asked to be: the options of ``serve`` as one frozen value (decision 48). Reads no environment."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from kernel.limits import CONNECTIONS_ALLOWED_MAX, CONNECTIONS_MAX

DEFAULT_PORT: Final = 6806
DEFAULT_HOST: Final = "127.0.0.1"
COMMIT_BOUND_S: Final = 30.0
DRAIN_S: Final = 10.0
_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._-]+))(?::(\d{1,5})?)?")
_PORT_MAX: Final = 65_535

Disconnect = Literal["cancel", "ignore"]
Permission = Literal["none", "r", "rw", "rwd"]


class SettingsError(ValueError):
    """The options contradict each other or would be unsafe. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of one ``serve``. ``host`` is the address to bind; ``host_url`` another kernel to stand in front of."""

    workspace: Path
    port: int = DEFAULT_PORT
    host: str = DEFAULT_HOST
    host_url: str = ""
    host_token: str = ""
    state_dir: Path | None = None
    working_dir: Path | None = None
    is_readonly: bool = False
    access_code: str = ""
    language: str = "en"
    default_permission: Permission = "rw"
    index_lag_s: float = 0.0
    disconnect: Disconnect = "cancel"
    allowed_hosts: tuple[str, ...] = ()
    allows_egress: bool = False
    faults: Path | None = None
    has_emulator_controls: bool = False
    read_slots: int = 4
    mutation_slots: int = 1
    admitted_max: int = 128
    connections_max: int = CONNECTIONS_MAX
    commit_bound_s: float = COMMIT_BOUND_S
    log_level: str = "warning"
    has_conformance_fixtures: bool = False
    is_json: bool = False
    removes_workspace: bool = False
    warnings: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= _PORT_MAX:
            raise SettingsError(f"--port {self.port} is not a port: use 0 (any free one) to 65535")
        # An empty address binds the loopback one; a literal may come in the brackets that a URL gives it.
        if not is_loopback(self.host.strip("[]") or "localhost") and not self.access_code:
            raise SettingsError(
                f"--host {self.host} is reachable from other machines: set an access code (SISYPHUS_ACCESS_CODE) first"
            )
        for name in self.allowed_hosts:
            allowed_host(name)
        if self.host_url and not is_http_address(self.host_url):
            raise SettingsError(f"--host-url {self.host_url} is not an address: write http://127.0.0.1:6806")
        if self.working_dir is not None and not self.working_dir.is_dir():
            raise SettingsError(
                f"--wd {self.working_dir} is no folder: give the folder that holds stage/ and appearance/"
            )
        for name, value, low in (
            ("--read-slots", self.read_slots, 1),
            ("--mutation-slots", self.mutation_slots, 1),
            ("--admitted-max", self.admitted_max, 1),
            ("--connections-max", self.connections_max, 1),
        ):
            if value < low:
                raise SettingsError(f"{name} {value} is too small: at least {low}")
        if self.connections_max > CONNECTIONS_ALLOWED_MAX:
            raise SettingsError(
                f"--connections-max {self.connections_max} is too large: at most {CONNECTIONS_ALLOWED_MAX}"
            )
        if self.commit_bound_s <= 0:
            raise SettingsError(f"--commit-bound {self.commit_bound_s} is too small: give seconds above 0")
        if self.index_lag_s < 0:
            raise SettingsError(f"--index-lag {self.index_lag_s} is negative")


def is_loopback(host: str) -> bool:
    """Whether a host name or address literal can only mean this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def split_authority(authority: str) -> str | None:
    """The host of ``host``, ``host:port`` or ``[v6]:port`` in lower case, without brackets; None if it is none."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found[3] or 0) > _PORT_MAX:
        return None
    return (found[1] or found[2]).lower().removesuffix(".") or None


def allowed_host(text: str) -> str:
    """The host that an operator lets in: a name, an address (brackets or not), with a port or without.

    Raises:
        SettingsError: no Host header could ever name it.
    """
    host = split_authority(text)
    if host is None:
        try:
            return str(ipaddress.ip_address(text))
        except ValueError:
            message = f"--allowed-host {text!r} is no host: write a name or an address, such as notes.example"
            raise SettingsError(message) from None
    return host


def is_http_address(url: str) -> bool:
    """Whether a real SiYuan could be found there."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    # A name may be written in any script; none has a space in it.
    return parts.scheme in ("http", "https") and bool(parts.hostname) and len(parts.netloc.split()) == 1


def parse_duration_s(text: str) -> float:
    """``3s``, ``250ms``, ``2m`` or plain seconds → seconds.

    Raises:
        SettingsError: not a duration.
    """
    for suffix, factor in (("ms", 0.001), ("s", 1.0), ("m", 60.0)):
        if text.endswith(suffix):
            text, scale = text[: -len(suffix)], factor
            break
    else:
        scale = 1.0
    try:
        seconds = float(text) * scale
    except ValueError:
        seconds = math.nan
    # Neither "nan" nor 1e999 is a time that one can wait for.
    if not math.isfinite(seconds):
        raise SettingsError(f"{text!r} is not a duration: write 3s, 250ms or 2m")
    return seconds
