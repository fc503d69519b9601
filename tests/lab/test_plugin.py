"""The pytest plugin, run as its users run it: synchronous, asyncio and Trio tests, a trace behind a failure."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = "pytester"
pytestmark = pytest.mark.wire

PLAIN = """
import threading

def commit_arguments(kernel, ids):
    call = {"id": ids["block"], "dataType": "markdown", "data": "new"}
    told = kernel.tool("block", "update", validateOnly=True, **call)["structuredContent"]
    return {**call, "requestId": told["requestId"], told["preconditionField"]: told[told["preconditionField"]]}

def test_a_commit_that_is_held_is_seen_and_let_go(sisyphus_kernel):
    kernel = sisyphus_kernel
    commit = commit_arguments(kernel, kernel.make_notes())
    kernel.fault("write.commit.checked", "hold", name="here")
    answers = []
    client = threading.Thread(target=lambda: answers.append(kernel.tool("block", "update", **commit)))
    client.start()
    kernel.wait_for("here")
    assert not answers
    assert kernel.release("here") == 1
    client.join(30)
    assert answers[0]["structuredContent"]["safety"]["transactionState"] == "committed"
    assert {"fault", "committing"} <= {event["kind"] for event in kernel.trace()}

def test_it_fails_and_tells_its_trace(sisyphus_kernel):
    sisyphus_kernel.make_notes()
    assert False
"""
ASYNCIO = """
import asyncio

def test_under_asyncio(sisyphus_kernel):
    async def main():
        kernel = sisyphus_kernel.awaited
        ids = await kernel.make_notes()
        await kernel.fault("host.before:/api/block/getBlockKramdown", "hold", name="read")
        call = asyncio.create_task(kernel.tool("block", "get_kramdown", id=ids["block"]))
        await kernel.wait_for("read")
        assert not call.done()
        await kernel.release("read")
        assert "Alpha" in str(await call)
    asyncio.run(main())
"""
TRIO = """
import pytest, trio

async def test_a_real_kernel_under_trio(sisyphus_kernel):
    await sisyphus_kernel.awaited.make_notes()
    assert await sisyphus_kernel.awaited.trace()

@pytest.mark.sisyphus_options("--admitted-max", "1")
async def test_one_in_the_same_run(sisyphus_kernel_inprocess, nursery, autojump_clock):
    kernel = sisyphus_kernel_inprocess
    ids = await kernel.make_notes()
    kernel.fault("host.before:/api/block/getBlockKramdown", "delay", name="slow", seconds=3000)
    nursery.start_soon(lambda: kernel.tool("block", "get_kramdown", id=ids["block"]))
    await kernel.wait_for("slow")
    refused = await kernel.tool("block", "get_kramdown", id=ids["block"])
    assert refused["structuredContent"]["error"]["code"] == "queue_full"
    await trio.sleep(4000)
    assert "Alpha" in str(await kernel.tool("block", "get_kramdown", id=ids["block"]))
    assert any(event["kind"] == "fault" for event in kernel.trace())
"""


def test_kernels_for_plain_asyncio_and_trio_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_plain=PLAIN, test_asyncio=ASYNCIO, test_trio=TRIO)
    pytester.makeini("[pytest]\ntrio_mode = true\nfilterwarnings = error\n")
    # An installed package brings its plugin by itself; from a bare source folder it is named.
    is_installed = any(point.value == "kernel.pytest_plugin" for point in entry_points(group="pytest11"))
    named = () if is_installed else ("-p", "kernel.pytest_plugin")
    result = pytester.runpytest_subprocess(*named, "-q")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*sisyphus trace*", '*"kind": "answer"*', "FAILED test_plain.py::test_it_fails*"])
