"""The pytest plugin (entry point ``pytest11``): kernels for the tests of agents, clients and plugins.

``sisyphus_kernel``: a real process on a free port with a workspace of its own, for any kind of test: synchronous,
asyncio, Trio. ``sisyphus_kernel_inprocess``: for Trio tests, in the same run, with a virtual clock if the test has one.
A failed test prints the last events of the kernel's trace. Both take options of ``serve`` from a mark::

    @pytest.mark.sisyphus_options("--admitted-max", "1")

Imports nothing heavy until a fixture is asked for: every pytest run of the environment loads this module.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from kernel.lab.inprocess import InProcessKernel
    from kernel.lab.process import LabKernel
    from kernel.settings import Settings

# Events of the trace that a failed test prints.
TRACE_EVENTS_PRINTED: Final = 60
_MARK: Final = "sisyphus_options"
_KERNELS: Final = pytest.StashKey[list[Any]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", f"{_MARK}(*options): options of the kernel that a fixture starts")


@pytest.fixture
def sisyphus_kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabKernel]:
    """A running kernel process with its controls on: ``url``, ``mcp``, faults, clock, trace (``LabKernel``)."""
    from kernel.lab.process import LabKernel

    kernel = LabKernel(tmp_path / "sisyphus-workspace", *_options(request))
    kernel.start()
    _remember(request, kernel)
    try:
        yield kernel
    finally:
        kernel.close()


async def _inprocess(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[InProcessKernel]:
    from kernel.lab.inprocess import open_inprocess

    async with open_inprocess(_settings(tmp_path / "sisyphus-workspace", _options(request))) as kernel:
        _remember(request, kernel)
        yield kernel


def _settings(workspace: Path, options: tuple[str, ...]) -> Settings:
    from kernel.cli.serve import serve_command, settings_from

    arguments = ["--workspace", str(workspace), "--emulator-controls", *options]
    return settings_from(dict(serve_command.make_context("serve", arguments).params))


def _make_inprocess_fixture() -> Any:
    """A fixture of pytest-trio where that is installed; elsewhere one that says what is missing."""
    try:
        from pytest_trio import trio_fixture  # type: ignore[import-untyped]
    except ImportError:

        @pytest.fixture(name="sisyphus_kernel_inprocess")
        def missing() -> None:
            pytest.skip("sisyphus_kernel_inprocess needs pytest-trio")

        return missing
    return trio_fixture(_inprocess)


sisyphus_kernel_inprocess = _make_inprocess_fixture()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A failed test tells what its kernels did. (The report's type is pytest's own.)"""
    report: Any = yield
    if report.when == "call" and report.failed:
        for kernel in item.stash.get(_KERNELS, []):
            report.sections.append(("sisyphus trace", _tail(kernel)))
    return report


def _remember(request: pytest.FixtureRequest, kernel: Any) -> None:
    request.node.stash.setdefault(_KERNELS, []).append(kernel)


def _options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    mark = request.node.get_closest_marker(_MARK)
    return () if mark is None else tuple(map(str, mark.args))


def _tail(kernel: Any) -> str:
    try:
        events = kernel.trace()[-TRACE_EVENTS_PRINTED:]
    except Exception as error:
        # A kernel that a fault has killed has no trace; its last words may say why.
        return "\n".join([f"no trace: {error}", *getattr(kernel, "log", [])[-10:]])
    return "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
