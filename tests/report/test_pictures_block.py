"""Rows of small pictures: what each view makes of them."""

from __future__ import annotations

import base64
from html.parser import HTMLParser

import pytest

from testsgd.report.blocks import Document, Picture, Pictures, Section
from testsgd.report.html import render_html
from testsgd.report.markdown import render_markdown

NASTY = '"><script>alert(1)</script>|*x*'
PNG = b"\x89PNG\r\n\x1a\n"


def uri(data: bytes = PNG) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def document(*rows: tuple[str, tuple[Picture, ...]], label: str = "People") -> Document:
    return Document(
        what="Generative model",
        subject="portraits",
        headline="They differ.",
        sentences=(),
        sections=(Section("pictures", "Pictures", (Pictures(label, rows, "In their order."),)),),
        created="2026-03-01T09:05:30Z",
        version="1.0",
        schema_name="testsgd.generative/1",
    )


class Page(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_a_page_shows_every_picture_with_its_label() -> None:
    first, second = uri(PNG + b"1"), uri(PNG + b"2")
    rows = (
        ("Before", (Picture(first, "female"), Picture(second, "male"))),
        ("Now", (Picture(second, "male", marked=True),)),
    )
    page = Page(render_html(document(*rows)))
    shown = [(image["src"], image["alt"]) for image in page.of("img")]
    assert shown == [(first, "female"), (second, "male"), (second, "male")]
    assert {"Before", "Now", "In their order."} <= set(page.texts)


def test_only_marked_pictures_are_marked() -> None:
    row = tuple(Picture(uri(), f"number {place}", marked=place == 2) for place in range(4))
    page = Page(render_html(document(("", row))))
    assert sum(item.get("class") == "marked" for item in page.of("li")) == 1
    assert len(page.of("img")) == 4


def test_the_page_may_load_pictures_that_stand_in_it_and_no_others() -> None:
    page = Page(render_html(document(("", (Picture(uri(), "female"),)))))
    (policy,) = [
        meta["content"]
        for meta in page.of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    assert rules["img-src"] == "data:"
    assert rules["default-src"] == "'none'"


def test_labels_and_titles_are_escaped() -> None:
    page = Page(render_html(document((NASTY, (Picture(uri(), NASTY, marked=True),)), label=NASTY)))
    assert not page.of("script")
    assert [image["alt"] for image in page.of("img")] == [NASTY]
    assert page.texts.count(NASTY) >= 2
    text = render_markdown(document((NASTY, (Picture(uri(), NASTY),)), label=NASTY))
    assert "<script>" not in text


def test_markdown_says_how_many_pictures_there_are_and_has_none() -> None:
    rows = (("Before", (Picture(uri(), "female"),) * 3), ("Now", (Picture(uri(), "male"),) * 4))
    text = render_markdown(document(*rows))
    (line,) = [line for line in text.splitlines() if "People" in line]
    assert "7 pictures" in line
    assert "data:" not in text
    assert "base64" not in text


@pytest.mark.parametrize("rows", [(), (("Before", ()), ("Now", ()))])
def test_without_a_picture_there_is_nothing(rows: tuple[tuple[str, tuple[Picture, ...]], ...]):
    assert not Page(render_html(document(*rows))).of("img")
    assert not Page(render_html(document(*rows))).of("figure")
    assert "picture" not in render_markdown(document(*rows)).replace("### Pictures", "")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "portrait.png",
        "https://example.org/portrait.png",
        "javascript:alert(1)",
        "data:text/html;base64,PGI+",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:image/png,abc",
        "data:image/png;base64,",
        'data:image/png;base64,AAAA" onerror="alert(1)',
        "data:image/png;base64,AAAA\n",
        "data:image/png;base64,AAA",
        " " + uri(),
        uri().replace("image/png", "IMAGE/PNG"),
    ],
)
def test_only_the_data_of_png_files_is_a_picture(address: str) -> None:
    with pytest.raises(ValueError, match="picture"):
        Picture(address, "female")
