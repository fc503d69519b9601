"""wrk as an independent witness: the same trivial call, another generator. Shell."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from typing import Any, Final

from kernel.bench.targets import Target

_RATE: Final = re.compile(r"Requests/sec:\s+([\d.]+)")
_PERCENTILE: Final = re.compile(r"^\s+(50|90|99)%\s+([\d.]+)(us|ms|s)\s*$", re.MULTILINE)
_US: Final = {"us": 1.0, "ms": 1e3, "s": 1e6}


def is_installed() -> bool:
    return shutil.which("wrk") is not None


def wrk_round(target: Target, *, connections: int, seconds: float, processor: int | None) -> dict[str, float]:
    """Requests per second and percentiles (closed loop, so without the wait of what was never sent)."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_script(target))
        script.flush()
        url = f"http://{target.address.authority}{target.address.path}"
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{max(1, round(seconds))}s",
            "--latency",
            "-s",
            script.name,
            url,
        ]
        if processor is not None and shutil.which("taskset") is not None:
            command = ["taskset", "-c", str(processor), *command]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return parse(text)


def parse(text: str) -> dict[str, float]:
    """The numbers of wrk's report. Raises ValueError if it is none."""
    rate = _RATE.search(text)
    if rate is None:
        raise ValueError(f"wrk told no rate: {text[-200:]!r}")
    told = {"throughputPerS": float(rate[1]), "hadErrors": float("Non-2xx" in text or "Socket errors" in text)}
    for percent, number, unit in _PERCENTILE.findall(text):
        told[f"p{percent}Us"] = float(number) * _US[unit]
    return told


def _script(target: Target) -> str:
    head, _, body = target.address.tool(target.place.tool, dict(target.place.arguments)).partition(b"\r\n\r\n")
    lines: list[Any] = ['wrk.method = "POST"', f"wrk.body = [==[{body.decode()}]==]"]
    for line in head.decode().split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        if name not in ("Host", "Content-Length"):
            lines.append(f'wrk.headers["{name}"] = "{value}"')
    return "\n".join(lines)
