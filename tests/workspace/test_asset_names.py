"""Names of assets: what of a given name is kept, and the id in it."""

from __future__ import annotations

import pytest

from kernel.workspace.asset_names import (
    extension,
    file_path,
    filtered_name,
    shortened,
    upload_name,
    with_id,
    without_id,
)
from kernel.workspace.limits import ASSET_NAME_BYTES_MAX

ID = "20240101000000-abcdefg"
NEW = "20260301090000-zzzzzzz"
PDF_CUT = f"-P12-90-{ID}.png"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.PNG", "a.png"),
        ("a:b?.Txt", "a_b_.txt"),
        ("a[1](2)~`!.md", "a12.md"),
        ("plain", "plain"),
        (" dot. ", "dot"),
    ],
)
def test_an_upload_keeps_what_any_file_system_takes(name: str, kept: str) -> None:
    assert upload_name(name) == kept


def test_only_an_upload_has_its_extension_lowered() -> None:
    assert filtered_name("a#b.PNG") == "ab.PNG"
    assert file_path("a:b/c?d/e.png") == "a_b/c_d/e.png"
    assert (extension("a."), extension("a"), extension("b/a.png")) == ("", "", ".png")


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("a" * (ASSET_NAME_BYTES_MAX - 4) + ".png", "a" * (ASSET_NAME_BYTES_MAX - 4) + ".png"),
        ("a" * 300 + ".txt", "a" * (ASSET_NAME_BYTES_MAX - 4) + ".txt"),
        ("鲸" * 100 + ".txt", "鲸" * ((ASSET_NAME_BYTES_MAX - 4) // 3) + ".txt"),
        ("a" * 300 + PDF_CUT, "a" * (ASSET_NAME_BYTES_MAX - 8 - len(PDF_CUT)) + PDF_CUT),
        ("short" + PDF_CUT, "short" + PDF_CUT),
    ],
)
def test_a_long_name_is_cut_to_its_bytes_and_keeps_its_end(name: str, cut: str) -> None:
    assert shortened(name) == cut


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("a.png", f"a-{NEW}.png"),
        (f"a-{ID}.png", f"a-{ID}.png"),
        (f"{ID}.png", f"{ID}.png"),
        ("noend", f"noend-{NEW}"),
    ],
)
def test_a_name_is_given_an_id_once(name: str, named: str) -> None:
    assert with_id(name, NEW) == named


@pytest.mark.parametrize(
    ("name", "bare"), [(f"a-{ID}.png", "a.png"), (f"{ID}.png", f"{ID}.png"), (f"a-{ID}", "a"), ("a.png", "a.png")]
)
def test_a_name_without_its_id_is_the_one_it_came_with(name: str, bare: str) -> None:
    assert without_id(name) == bare
