"""The covers of cards: pictures, assets, or the block itself."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.covers import COVER_BYTES_MAX
from tests.workspace.views.world import AV, ITEMS, Databases, assets

BLOCK, ASSET, IMAGE, NONE = 3, 2, 1, 0


async def cover(av: Databases, rule: int, item: str = ITEMS[0]) -> tuple[str, str]:
    """(picture, blocks) that a card shows."""
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    await av.operate("setAttrViewCoverFrom", data=rule)
    cards = (await av.show())["view"]["cards"]
    card = next(one for one in cards if one["id"] == item)
    return card["coverURL"], card["coverContent"]


async def bound(av: Databases, markdown: str) -> str:
    """A document of its own that an item stands for."""
    box = (await av.kernel.call("notebook/lsNotebooks"))["notebooks"][0]["id"]
    document = await av.kernel.document(box, "/Bound", markdown)
    await av.bind(ITEMS[0], document)
    return document


@pytest.mark.parametrize(
    ("given", "picture"),
    [
        (assets("a.png", kind="image"), "assets/a.png"),
        (assets("a.SVG?style=1", "b.SVG", kind="image"), "assets/b.SVG"),
        ({"mAsset": [{"type": "image", "name": "", "content": "https://a.b/c"}]}, "https://a.b/c"),
        ({"mAsset": [{"type": "image", "name": "", "content": "assets/c"}]}, ""),
        (assets("a.pdf", "b.png"), ""),
        ({"mAsset": []}, ""),
    ],
)
async def test_a_cover_from_a_field_is_its_first_picture(av: Databases, given: dict[str, Any], picture: str) -> None:
    column = await av.key("mAsset")
    await av.add("one")
    await av.put("mAsset", ITEMS[0], given)
    assert await cover(av, ASSET) == ("", ""), "no key is said"
    await av.operate("setAttrViewCoverFromAssetKeyID", keyID=column)
    assert await cover(av, ASSET) == (picture, "")


async def test_cards_may_go_without_a_cover_and_detached_ones_do(av: Databases) -> None:
    await av.add("one")
    for rule in (NONE, IMAGE, BLOCK):
        assert await cover(av, rule) == ("", "")


async def test_the_cover_of_a_block_that_is_gone_is_none(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    av.rewrite(lambda data: data["keyValues"][0]["values"][0]["block"].update(id="20200101000000-zzzzzzz"))
    assert await cover(av, IMAGE) == ("", "")


@pytest.mark.parametrize(
    ("style", "picture"),
    [
        ('background-image:url("assets/t.png")', "assets/t.png"),
        ("background-image: url(assets/t.png); x: y", "assets/t.png"),
        ("background: red", "background: red"),
        ("background-image: linear-gradient(red, blue)", "background-image: linear-gradient(red, blue)"),
    ],
)
async def test_a_document_shows_its_title_picture(av: Databases, style: str, picture: str) -> None:
    document = await bound(av, "![](assets/in.png)")
    assert (await cover(av, IMAGE))[0] == "assets/in.png"
    await av.kernel.call("attr/setBlockAttrs", id=document, attrs={"title-img": style})
    assert (await cover(av, IMAGE))[0] == picture


async def test_a_document_without_a_picture_shows_its_first_blocks(av: Databases) -> None:
    paragraph = "word " * 200
    await bound(av, "\n\n".join(f"{number} {paragraph}" for number in range(9)))
    content = (await cover(av, IMAGE))[1]
    assert "0 word" in content
    assert "8 word" not in content
    assert len(content.encode()) > COVER_BYTES_MAX
    assert 'contenteditable="true"' not in content


async def test_a_cover_of_blocks_shows_blocks_although_there_is_a_picture(av: Databases) -> None:
    await bound(av, "![](assets/in.png)")
    picture, content = await cover(av, BLOCK)
    assert picture == ""
    assert "assets/in.png" in content


async def test_a_section_is_shown_with_its_heading_and_list_items_in_a_list(av: Databases) -> None:
    box = (await av.kernel.call("notebook/lsNotebooks"))["notebooks"][0]["id"]
    document = await av.kernel.document(box, "/Sections", "# First\n\nof it\n\n# Second\n\n* item")
    blocks = await av.kernel.children(document)
    await av.bind(ITEMS[0], blocks[0])
    content = (await cover(av, BLOCK))[1]
    assert "of it" in content
    assert "Second" not in content
    last = (await av.kernel.children(blocks[-1]))[0] if len(blocks) > 2 else blocks[-1]
    item = (await av.kernel.children(last))[0]
    await av.bind(ITEMS[1], item)
    assert "item" in (await cover(av, BLOCK, ITEMS[1]))[1]
