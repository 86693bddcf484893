"""Portraits as pictures and files: repeatable, read by other means, different by attribute."""

from __future__ import annotations

import doctest
import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from portrait_modules import portraits

attributes = portraits("attributes")
drawing = portraits("drawing")
png_files = portraits("png")
sheets = portraits("contact_sheet")

MODULES = ("attributes", "canvas", "contact_sheet", "drawing", "generator", "looks", "png")


def person(**changes: str):
    values = {"sex": "female", "skin": "brown", "age": "adult", "clothes": "plain"}
    return attributes.Attributes(**{**values, **changes})


def drawn(seed: int, size: int = 64, **changes: str):
    return drawing.portrait(person(**changes), random=np.random.default_rng(seed), size=size)


def pixels_by_hand(data: bytes):
    """Undo what a PNG file of one IDAT chunk and filters 0 and 2 is made of."""
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    raw = zlib.decompress(data[start + 4 : start + 4 + length])
    stride = 1 + 3 * width
    above = [0] * (3 * width)
    rows = []
    for y in range(height):
        kind, *line = raw[y * stride : (y + 1) * stride]
        assert kind in (0, 2)
        added = [(a + b) % 256 for a, b in zip(line, above, strict=True)]
        above = added if kind == 2 else line
        rows.append(above)
    return np.array(rows).reshape(height, width, 3)


@pytest.mark.parametrize("name", [*MODULES, "prompts", "server"])
def test_examples_in_docstrings_hold(name):
    assert doctest.testmod(portraits(name)).failed == 0


def test_same_seed_same_picture_and_another_seed_another():
    first = drawn(5)
    assert np.array_equal(first, drawn(5))
    assert not np.array_equal(first, drawn(6))
    assert first.dtype == np.uint8
    assert first.shape == (64, 64, 3)


def test_every_combination_can_be_drawn():
    for index, sex in enumerate(attributes.SEX):
        for age in attributes.AGE:
            for clothes in attributes.CLOTHES:
                for build in attributes.BUILD:
                    skin = attributes.SKIN[index]
                    changes = {"sex": sex, "age": age, "clothes": clothes, "build": build}
                    picture = drawn(index, skin=skin, **changes)
                    assert picture.std() > 15


def test_darker_tones_have_darker_faces():
    brightness = [
        np.mean([drawn(seed, skin=tone)[20:40, 24:40].mean() for seed in range(20)])
        for tone in attributes.SKIN
    ]
    assert brightness == sorted(brightness)


def test_file_holds_the_picture():
    picture = drawn(1, size=32)
    assert np.array_equal(pixels_by_hand(drawing.png(picture)), picture)


def test_pillow_reads_the_file():
    images = pytest.importorskip("PIL.Image")
    picture = drawn(2)
    with images.open(io.BytesIO(drawing.png(picture))) as image:
        image.load()
        assert (image.format, image.mode) == ("PNG", "RGB")
        assert np.array_equal(np.asarray(image), picture)


def test_files_of_pillow_are_read():
    images = pytest.importorskip("PIL.Image")
    picture = drawn(3)
    stream = io.BytesIO()
    images.fromarray(picture).save(stream, format="PNG")
    assert np.array_equal(png_files.read_png(stream.getvalue()), picture)


def filtered_file(picture, kinds):
    """Write a PNG file with a given filter in each row, by the definitions of the standard."""
    height, width, _ = picture.shape
    rows = picture.astype(int).reshape(height, width * 3)
    raw = bytearray()
    for y in range(height):
        raw.append(kinds[y])
        for i in range(width * 3):
            a = rows[y, i - 3] if i >= 3 else 0
            b = rows[y - 1, i] if y else 0
            c = rows[y - 1, i - 3] if y and i >= 3 else 0
            nearest = min((a, b, c), key=lambda value, p=a + b - c: abs(p - value))
            guess = (0, a, b, (a + b) // 2, nearest)[kinds[y]]
            raw.append((rows[y, i] - guess) % 256)

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(bytes(raw))
    # The data may be cut into several chunks.
    body = chunk(b"IDAT", packed[:7]) + chunk(b"IDAT", packed[7:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), kinds=st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_files_with_any_filters_are_read(seed, kinds):
    random = np.random.default_rng(seed)
    picture = random.integers(0, 256, size=(len(kinds), 5, 3), dtype=np.uint8)
    assert np.array_equal(png_files.read_png(filtered_file(picture, kinds)), picture)


@pytest.mark.parametrize("cut", [0, 4, 20, 40, 60])
def test_damaged_files_are_refused(cut):
    with pytest.raises(ValueError, match="PNG"):
        png_files.read_png(drawing.png(drawn(0, size=8))[:cut])


def test_contact_sheet_holds_the_pictures_where_they_belong():
    pictures = [[drawn(seed, size=16) for seed in range(3)], [drawn(9, size=16)]]
    sheet = sheets.contact_sheet([[drawing.png(one) for one in row] for row in pictures])
    pixels = pixels_by_hand(sheet)
    assert pixels.shape == (4 + 2 * 20, 4 + 3 * 20, 3)
    for y, row in enumerate(pictures):
        for x, picture in enumerate(row):
            top = 4 + 20 * y
            left = 4 + 20 * x
            assert np.array_equal(pixels[top : top + 16, left : left + 16], picture)


def test_contact_sheet_with_titles_is_higher():
    pytest.importorskip("PIL")
    row = [drawing.png(drawn(0, size=64))]
    plain = pixels_by_hand(sheets.contact_sheet([row]))
    titled = pixels_by_hand(sheets.contact_sheet([row], titles=["Poor"]))
    assert titled.shape[0] > plain.shape[0]
    assert np.array_equal(titled[-68:], plain[-68:])


def test_contact_sheets_refuse_what_does_not_fit():
    row = [drawing.png(drawn(0, size=16))]
    with pytest.raises(ValueError, match="titles"):
        sheets.contact_sheet([row], titles=["one", "two"])
    with pytest.raises(ValueError, match="size"):
        sheets.contact_sheet([row, [drawing.png(drawn(0, size=8))]])
    with pytest.raises(ValueError, match="there"):
        sheets.contact_sheet([])


def test_unknown_values_are_refused():
    with pytest.raises(ValueError, match="skin"):
        person(skin="green")
