"""SVG pictures: what stays, what goes, what is refused."""

from __future__ import annotations

import pytest

from kernel.siyuan.limits import SVG_DEPTH_MAX
from kernel.siyuan.svg import SvgInvalid, sanitized

NS = 'xmlns="http://www.w3.org/2000/svg"'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            f'<svg {NS} onload="alert(1)"><script>alert(2)</script><rect width="1" height="1"/></svg>',
            f'<svg {NS}><rect width="1" height="1"></rect></svg>',
        ),
        ("<svg><a href='java\tscript:x'/><a xlink:href='JavaScript:x'/></svg>", "<svg><a></a><a></a></svg>"),
        (
            "<svg><image href='data:image/png;base64,x'/></svg>",
            '<svg><image href="data:image/png;base64,x"></image></svg>',
        ),
        ("<svg><image href='data:text/html,x'/></svg>", "<svg><image></image></svg>"),
        ("<svg><p style='width:expression(1)'/><p style='x:y'/></svg>", '<svg><p></p><p style="x:y"></p></svg>'),
        ("<svg><foreignObject><b><script/></b>t</foreignObject>u</svg>", "<svg>u</svg>"),
        ("<svg><set/><animate/><svg:script/>x</svg>", "<svg>x</svg>"),
        ("<?xml version='1.0'?><!-- a --><svg><!-- b --></svg><!-- c -->", "<svg><!-- b --></svg>"),
        (
            '<svg a="&lt;&quot;\'&#10;">&amp;<![CDATA[<b>]]>\n</svg>',
            '<svg a="&lt;&#34;&#39;&#xA;">&amp;&lt;b&gt;\n</svg>',
        ),
        ("<SVG/>", "<SVG></SVG>"),
    ],
)
def test_active_content_goes_and_the_picture_stays(source: str, expected: str) -> None:
    assert sanitized(source.encode()).decode() == expected


@pytest.mark.parametrize(
    "source",
    ["<svg", "<html/>", "<svg></svg><svg/>", "x<svg/>", "<svg>&nbsp;</svg>", "", "<svg></g></svg>",
     "<!DOCTYPE svg><svg/>", "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>"],
)  # fmt: skip
def test_what_is_no_svg_is_refused(source: str) -> None:
    with pytest.raises(SvgInvalid):
        sanitized(source.encode())


@pytest.mark.parametrize("depth", [SVG_DEPTH_MAX, SVG_DEPTH_MAX + 1])
def test_nesting_is_bounded(depth: int) -> None:
    source = f"<svg>{'<g>' * (depth - 1)}{'</g>' * (depth - 1)}</svg>".encode()
    if depth <= SVG_DEPTH_MAX:
        assert sanitized(source) == source
    else:
        with pytest.raises(SvgInvalid):
            sanitized(source)


def test_the_number_of_parts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.siyuan.svg.SVG_PARTS_MAX", 4)
    assert sanitized(b"<svg><g/></svg>") == b"<svg><g></g></svg>"
    with pytest.raises(SvgInvalid):
        sanitized(b"<svg><g/>x</svg>")
