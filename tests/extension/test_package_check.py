"""What is said of a plugin's or a theme's package, in its static layer (R311 to R327)."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.extension import package_check
from kernel.extension.package_check import validate_package

# --- packages ---

MANIFEST: dict[str, Any] = {
    "name": "example-plugin",
    "version": "1.0.0",
    "minAppVersion": "3.7.0",
    "displayName": {"default": "Example"},
    "description": {"default": "Example"},
}
INDEX = "module.exports = class extends Plugin { onunload() {} };"


def problems(kind: str = "plugin", files: Any = None, runtime: Any = None, **manifest: Any) -> list[str]:
    given = {name: value for name, value in {**MANIFEST, **manifest}.items() if value is not None}
    package = {"type": kind, "manifest": given, "files": {"index.js": INDEX} if files is None else files}
    report = validate_package(package, runtime or {})
    assert report["valid"] is not bool(report["problems"])
    found: list[str] = report["problems"]
    return found


def test_a_good_package_is_valid_in_the_static_layer_only() -> None:
    files = {"index.js": INDEX, "kernel.js": "siyuan.mcp.registerTool('a'); siyuan.mcp.unregisterTool('a')"}
    package = {"type": "plugin", "manifest": {**MANIFEST, "kernels": ["darwin"]}, "files": files}
    report = validate_package(package, {"appVersion": "3.7.3", "backend": "darwin", "frontend": "desktop"})
    assert (report["valid"], report["layer"], report["warnings"]) == (True, "static", [])
    assert report["lifecycle"]["registerTool"] == ["kernel.js"]
    assert report["executableSurface"] == ["index.js", "kernel.js"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"name": "bad name"}, "name"),
        ({"name": ".."}, "name"),
        ({"name": None}, "name"),
        ({"version": "\uff11.0.0"}, "version"),
        ({"displayName": {"default": " "}}, "displayName"),
        ({"kernels": ["mars"]}, "kernels"),
        ({"kernels": [[]]}, "kernels"),
        ({"frontends": "desktop"}, "frontends"),
        ({"runtime": {"appVersion": "3.\u00b2"}}, "needs SiYuan"),
        ({"minAppVersion": "3.7.1", "runtime": {"appVersion": "3.7"}}, "needs SiYuan"),
        ({"files": {"index.js": INDEX, "a\0b": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "~/x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "a//b": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "": ""}}, "relative"),
        ({"kind": "theme", "files": {}, "modes": ["light"]}, "theme.css"),
        ({"kind": "theme", "files": {"theme.css": ""}, "modes": []}, "modes"),
        ({"kind": "theme", "files": {"theme.css": ""}, "modes": ["light", "grey"]}, "modes"),
        ({"version": "1"}, "version"),
        ({"minAppVersion": None}, "minAppVersion"),
        ({"displayName": "x"}, "displayName"),
        ({"description": {"default": ""}}, "description"),
        ({"installed": True}, "installed"),
        ({"backends": ["mars"]}, "backends"),
        ({"backends": ["linux"], "runtime": {"backend": "darwin"}}, "backend darwin"),
        ({"frontends": ["mobile"], "runtime": {"frontend": "desktop"}}, "frontend desktop"),
        ({"kernels": "x"}, "kernels"),
        ({"kernels": ["linux"], "runtime": {"backend": "darwin"}}, "kernel part"),
        ({"runtime": {"appVersion": "3.6.0"}}, "needs SiYuan"),
        ({"files": {}}, "index.js"),
        ({"files": {"index.js": INDEX, "../x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "/x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "C:\\x": ""}}, "relative"),
        ({"kind": "theme", "files": {"theme.css": ""}}, "modes"),
        ({"kind": "widget", "files": {}}, "index.html"),
    ],
)
def test_each_fault_of_a_package_is_named(changes: dict[str, Any], part: str) -> None:
    assert any(part in problem for problem in problems(**changes))


@pytest.mark.parametrize("listed", ["darwin", "all"])
def test_a_package_for_this_backend_or_for_all_has_no_problem(listed: str) -> None:
    supported = {"backends": [listed], "frontends": ["desktop"], "kernels": [listed]}
    assert problems(runtime={"backend": "darwin", "frontend": "desktop"}, **supported) == []


@pytest.mark.parametrize("field", package_check.RUNTIME_FIELDS)
def test_what_the_kernel_writes_into_a_manifest_is_not_written_by_hand(field: str) -> None:
    assert problems(**{field: 1}) == [f"{field} is set by the kernel at run time and must not be written by hand."]


@pytest.mark.parametrize(
    "fits",
    [
        {"runtime": {"appVersion": "3.7"}},
        {"runtime": {"appVersion": "3.7.0-alpha1"}},
        {"runtime": {"appVersion": "3.10.0"}},
        {"backends": ["all"], "runtime": {"backend": "linux"}},
        {"frontends": ["desktop"], "runtime": {"frontend": "desktop"}},
        {"kernels": [], "runtime": {"backend": "linux"}},
        {"kernels": ["linux"], "runtime": {"backend": "linux"}},
        {"kernels": ["linux"]},
        {"files": {"index.js": INDEX, ".hidden": "", "a/b.c": "", "\u63d2\u4ef6.md": ""}},
    ],
)
def test_what_fits_is_no_fault(fits: dict[str, Any]) -> None:
    assert problems(**fits) == []


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("class A { onunload() {} }", True),
        ("class A { async onunload ( ) {} }", True),
        ("class A { onunload = () => {} }", True),
        ("module.exports = { onunload: function () {} }", True),
        ("this.onunload = stop", True),
        ("A.prototype.onunload = stop", True),
        ("plugin.onunload();", False),
        ("this.onunload();", False),
        ("if (onunload == 1) {}", False),
        ("myonunload() {}", False),
    ],
)
def test_onunload_is_found_however_it_is_given(text: str, is_there: bool) -> None:
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": {"index.js": text}}, {})
    assert report["lifecycle"]["onunload"] == (["index.js"] if is_there else [])
    assert any("onunload" in one for one in report["warnings"]) is not is_there


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("siyuan.mcp.{}('x')", True),
        ("siyuan . mcp\n  .{} (x)", True),
        ("siyuan?.mcp?.{}?.('x')", True),
        ("siyuan.mcp['{}']('x')", True),
        ("globalThis.siyuan.mcp.{}(x)", True),
        ("siyuan.mcp.{}", False),
        ("other.mcp.{}('x')", False),
        ("siyuan.mcp.{}All('x')", False),
    ],
)
@pytest.mark.parametrize("name", ["registerTool", "unregisterTool"])
def test_calls_of_the_tool_registry_are_found_however_they_are_written(name: str, text: str, is_there: bool) -> None:
    files = {"index.js": INDEX, "kernel.js": text.replace("{}", name)}
    report = validate_package({"type": "plugin", "manifest": {**MANIFEST, "kernels": ["all"]}, "files": files}, {})
    assert report["lifecycle"][name] == (["kernel.js"] if is_there else [])
    is_left = name == "registerTool" and is_there
    assert report["warnings"] == (["Tools are registered and never unregistered."] if is_left else [])


def test_everything_that_could_run_is_named_whatever_its_case() -> None:
    files = {
        "index.js": INDEX,
        "A.JS": "",
        "b.ps1": "",
        "lib/c.dylib": "",
        "d.wasm": "",
        "e.css": "",
        "f.md": "",
        "js": "",
    }
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": files}, {})
    assert report["executableSurface"] == ["A.JS", "b.ps1", "d.wasm", "index.js", "lib/c.dylib"]
    for kind in ("theme", "icon", "template", "widget"):
        told = validate_package({"type": kind, "manifest": MANIFEST, "files": files}, {})
        assert (told["executableSurface"], "lifecycle" in told) == (report["executableSurface"], False)


def test_a_theme_with_modes_and_its_style_is_fine() -> None:
    assert problems("theme", {"theme.css": ""}, modes=["dark"]) == []
    assert problems("icon", {}) == []


def test_risky_habits_are_warnings() -> None:
    files = {"index.js": "x", "kernel.js": "siyuan.mcp.registerTool('a')"}
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": files}, {})
    assert len(report["warnings"]) == 3
    named = validate_package(
        {"type": "plugin", "manifest": {**MANIFEST, "kernels": ["all"]}, "files": {"index.js": INDEX}}, {}
    )
    assert len(named["warnings"]) == 1
