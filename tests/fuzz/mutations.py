"""Ways to damage a file: its bytes, the values of a document, the cells of a table, an archive."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import re
import sqlite3
import zipfile
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]

HUGE_NUMBER = "9" * 400
MAGICS = (
    b"PK\x03\x04",
    b"\x89HDF\r\n\x1a\n",
    b"\x93NUMPY",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"SQLite format 3\0",
)


# Bytes.


def flip_bits(content: bytes, chance: random.Random) -> bytes:
    """Return the content with up to 8 bits turned over."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def set_bytes(content: bytes, chance: random.Random) -> bytes:
    """Return the content with a run of bytes replaced by one value, or by random ones."""
    start, end = _slice(content, chance, longest=64)
    value = chance.choice([0, 255, chance.randrange(256)])
    run = chance.choice([bytes([value]) * (end - start), chance.randbytes(end - start)])
    return content[:start] + run + content[end:]


def delete_slice(content: bytes, chance: random.Random) -> bytes:
    """Return the content without a slice."""
    start, end = _slice(content, chance)
    return content[:start] + content[end:]


def insert_bytes(content: bytes, chance: random.Random) -> bytes:
    """Return the content with some bytes put in that readers trip over."""
    place = chance.randint(0, len(content))
    odd = (
        b"\0",
        b"\xff\xfe",
        b"\x80",
        b"\r",
        b"\n\n",
        b"\x1b[2J",
        b'"',
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
    )
    run = chance.choice([*odd, chance.randbytes(chance.randint(1, 32))])
    return content[:place] + run * chance.choice([1, 1, 1, 100]) + content[place:]


def cut_off(content: bytes, chance: random.Random) -> bytes:
    """Return the beginning of the content."""
    return content[: chance.randint(0, max(0, len(content) - 1))]


def duplicate_slice(content: bytes, chance: random.Random) -> bytes:
    """Return the content with a slice that comes twice, or ten times."""
    start, end = _slice(content, chance)
    return content[:end] + content[start:end] * chance.choice([1, 9]) + content[end:]


def swap_slices(content: bytes, chance: random.Random) -> bytes:
    """Return the content with two neighbouring slices in the other order."""
    first, middle, last = sorted(chance.randint(0, len(content)) for _ in range(3))
    return content[:first] + content[middle:last] + content[first:middle] + content[last:]


def put_magic(content: bytes, chance: random.Random) -> bytes:
    """Return the content with the first bytes of another format before it, or over its own."""
    magic = chance.choice(MAGICS)
    return magic + content[chance.choice([0, len(magic)]) :]


def encode_otherwise(content: bytes, chance: random.Random) -> bytes:
    """Return a text in another encoding, or with a mark of its byte order."""
    text = content.decode("utf-8", errors="replace")
    encoding = chance.choice(["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-7", "cp037"])
    return text.encode(encoding, errors="replace")


def replace_all(content: bytes, chance: random.Random) -> bytes:
    """Return what is no such file at all."""
    nothings = (b"", b"\0" * 1000, b"\n", b" " * 1000, b"[" * 100_000, b"{}", b"[]", b"null")
    return chance.choice([*nothings, chance.randbytes(500)])


# Documents: JSON, JSON Lines and TOML.

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e308, -1e308, 5e-324, 1e-9, 2**31, 2**63, 2**64),
    *(10**15, float("nan"), float("inf"), float("-inf"), "", " ", "a", "é", "\u202e", "\x1b[31m"),
    *("0", "nan", "1/0", "1/3", "-1", "1e400", "../../x", "/dev/zero", "a\nb", "x" * 100_000),
    *([], {}, [[]], [None], [0], ["a", "a"], {"a": 1}, {"": ""}, [1] * 1000, "\ud800"),
)


def change_document(content: bytes, chance: random.Random) -> bytes:
    """Return a JSON document with up to three values or keys changed."""
    try:
        document = json.loads(content)
    except ValueError:
        return flip_bits(content, chance)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        document = _changed_value(document, chance)
    return _as_text(document, chance)


def change_lines(content: bytes, chance: random.Random) -> bytes:
    """Return JSON Lines with a line changed, left out, put twice or moved."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\n"
    place = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            del lines[place]
        case 1:
            lines.insert(chance.randint(0, len(lines)), lines[place])
        case 2:
            lines.insert(
                place, chance.choice([b"\n", b"null\n", b"[]\n", b"1\n", b'"a"\n', b"{}\n"])
            )
        case _:
            lines[place] = change_document(lines[place], chance) + b"\n"
    return b"".join(lines)


def _changed_value(document: Any, chance: random.Random) -> Any:
    """Return a document in which one value or key, somewhere in it, is another."""
    holders = [holder for holder in _holders(document) if holder]
    if not holders or chance.random() < 0.02:
        return _odd_value(chance)
    holder = chance.choice(holders)
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match chance.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[chance.choice(["", "a", "x" * 1000, f"{key} ", str(key).upper()])] = holder[key]
        case 1:
            holder.insert(key, holder[key])
        case 2 if isinstance(holder[key], (int, float)):
            holder[key] = chance.choice(
                [-holder[key], holder[key] + 1, holder[key] * 1000, str(holder[key])]
            )
        case 2:
            holder[key] = [holder[key]]
        case 3:
            other = chance.choice(holders)
            values = list(other.values()) if isinstance(other, dict) else other
            # A copy, for a document cannot hold itself.
            holder[key] = json.loads(json.dumps(chance.choice(values)))
        case _:
            holder[key] = _odd_value(chance)
    return document


def _odd_value(chance: random.Random) -> Any:
    """Return an odd value of its own: the next change may be inside of it."""
    return copy.deepcopy(chance.choice(ODD_VALUES))


def _holders(document: Any) -> list[Any]:
    """List the objects and arrays of a document."""
    found, waiting = [], [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list)):
            found.append(value)
            waiting += value.values() if isinstance(value, dict) else value
    return found


def _as_text(document: Any, chance: random.Random) -> bytes:
    """Return a document as JSON; at times with a number or brackets in it that Python refuses."""
    text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
    numbers = list(re.finditer(r"(?<=[:\[ ])-?\d+(?=[,\]}])", text))
    if numbers and chance.random() < 0.1:
        found = chance.choice(numbers)
        deep = "[" * 1000 + "]" * 1000
        odd = chance.choice([HUGE_NUMBER, "9" * 5000, "1e400", "-0", deep, "0." + "0" * 1000 + "1"])
        text = text[: found.start()] + odd + text[found.end() :]
    return text.encode("utf-8", errors="surrogatepass")


TOML_VALUES = (
    *("1", "0", "-1", "0.5", "1e308", "nan", "inf", "-inf", HUGE_NUMBER, str(2**63), "1e-320"),
    *('""', '"a"', "[]", "{}", "true", "[[]]", "[1]", '["a", "a"]', "{ a = 1 }", "1979-05-27"),
    *("07:32:00", '"1/0"', '"1/3"', '"../x"', '"\\u001b[31m"', '"\\u0000"', '"/dev/zero"'),
    *("[" * 1000 + "]" * 1000, '"' + "x" * 100_000 + '"', "[" + "1," * 1000 + "]", '["", 1, {}]'),
)


def change_toml(content: bytes, chance: random.Random) -> bytes:
    """Return TOML with up to three lines changed, left out, put twice or moved."""
    lines = content.decode().splitlines()
    places = [place for place, line in enumerate(lines) if line.strip() and line[0] != "#"]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        place = chance.choice(places)
        key, is_pair, value = lines[place].partition("=")
        match chance.randrange(8):
            case 0:
                lines[place] = ""
            case 1:
                lines.insert(chance.randint(0, len(lines)), lines[place])
                places.append(len(lines) - 1)
            case 2 if is_pair:
                other = chance.choice([lines[one] for one in places])
                lines[place] = f"{key}={other.partition('=')[2] or '1'}"
            case 3 if is_pair:
                odd_keys = [
                    f"{key.strip()}x ",
                    '"" ',
                    f"a.{key}",
                    "a." * 2000 + "b ",
                    "name ",
                    '"a b" ',
                ]
                lines[place] = f"{chance.choice(odd_keys)}={value}"
            case 4 if re.search(r"\d+", value):
                number = chance.choice(["0", "-1", "1000000000", "0.001", "1e9", HUGE_NUMBER])
                changed = re.sub(r"[\d.]+", number, value, count=1)
                lines[place] = f"{key}={changed}"
            case _ if is_pair:
                lines[place] = f"{key}= {chance.choice(TOML_VALUES)}"
            case _:
                brackets = [
                    "[a]",
                    "[[a]]",
                    "[",
                    f"[{lines[place]}]",
                    lines[place].strip("[]"),
                    "[a.b.c]",
                ]
                lines[place] = chance.choice(brackets)
    return "\n".join(lines).encode()


# Tables with a header.

CELLS = (
    *(
        "",
        " ",
        "nan",
        "NA",
        "None",
        "inf",
        "-inf",
        "1e400",
        "1e308",
        "-1",
        "0",
        HUGE_NUMBER,
        "0x10",
    ),
    *('"', '""', '"open', "a,b", '"a,b"', "a\rb", '"a\nb"', "\x00", "\x1b[2J", "\u202e", "\ufeff"),
    *("=1+1", "True", "1.5", "2020-01-01", "é", "\U0001f600", "x" * 200_000, "'", "\t", ";", "\\"),
)


def change_table(content: bytes, chance: random.Random) -> bytes:
    """Return a table with cells, columns or rows changed, or with other separators."""
    rows = [line.split(",") for line in content.decode().splitlines()]
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        place = chance.choice([0, *[chance.randrange(len(rows)) for _ in range(3)]])
        row = rows[place]
        column = chance.randrange(len(row)) if row else 0
        match chance.randrange(9):
            case 0:
                rows.insert(chance.randint(0, len(rows)), list(row))
            case 1:
                rows[place] = row[:column]
            case 2:
                row.append(chance.choice(CELLS))
            case 3:
                odd = chance.choice(CELLS)
                for other in rows[1:]:
                    other[column : column + 1] = [odd]
            case 4:
                for other in rows:
                    other[column : column + 1] = []
            case 5 if row:
                row[column] = chance.choice(row)
            case 6:
                del rows[chance.randint(1, len(rows)) :]
            case _ if row:
                row[column] = chance.choice(CELLS)
            case _:
                row.append("")
    separator = chance.choice([",", ",", ",", ",", ";", "\t", " ", "|", ",,"])
    end = chance.choice(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n\r"])
    return end.join(separator.join(row) for row in rows).encode("utf-8", errors="replace")


# Archives.


def change_member(inner: Callable[[str], tuple[Mutation, ...]]) -> Mutation:
    """Return a mutation of zip archives that changes a member as its name's kind of file is."""

    def change(content: bytes, chance: random.Random) -> bytes:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(list(members))
        match chance.randrange(8):
            case 0:
                del members[name]
            case 1:
                other = chance.choice(list(members))
                members[name], members[other] = members[other], members[name]
            case 2:
                members[chance.choice(["../out.txt", "/tmp/x", "a", f"{name}x"])] = members[name]
            case _:
                members[name] = chance.choice(inner(name))(members[name], chance)
        method = chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for member, inside in members.items():
                archive.writestr(member, inside)
        return buffer.getvalue()

    return change


def change_array(content: bytes, chance: random.Random) -> bytes:
    """Return a .npy file whose header tells another shape, type or order."""
    header = re.search(rb"\{.*?\}", content[:200])
    if header is None:
        return flip_bits(content, chance)
    shapes = [b"()", b"(0,)", b"(1,)", b"(-1,)", b"(99999999999,)", b"(3, 0, 2)", b"(2, 2)", b"'a'"]
    types = [
        b"'|O'",
        b"'<f8'",
        b"'<i1'",
        b"'<U4'",
        b"'|b1'",
        b"'<c16'",
        b"'<M8[s]'",
        b"'>i8'",
        b"''",
    ]
    changed = header.group()
    match chance.randrange(3):
        case 0:
            changed = re.sub(rb"\([^)]*\)", chance.choice(shapes), changed)
        case 1:
            changed = re.sub(rb"'descr': '[^']*'", b"'descr': " + chance.choice(types), changed)
        case _:
            changed = changed.replace(b"False", b"True")
    # The header's length stands before it: what is longer or shorter is made up by spaces.
    space = content[header.end() : content.find(b"\n", header.end())]
    padding = len(header.group()) + len(space) - len(changed)
    rest = content[header.end() + len(space) :]
    return content[: header.start()] + changed + b" " * max(0, padding) + rest


def change_database(content: bytes, chance: random.Random) -> bytes:
    """Return a database of SQLite with a text in one of its tables changed."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        # In memory there is no log beside the file, which the header of a state names.
        connection.deserialize(content[:18] + b"\x01\x01" + content[20:])
        texts = [
            (table, column, row, text)
            for table, key, column in (("state", "key", "text"), ("journal", "id", "line"))
            for row, text in connection.execute(f"SELECT {key}, {column} FROM {table}")
        ]
        table, column, row, text = chance.choice(texts)
        key = "key" if table == "state" else "id"
        changed: str | bytes = change_document(text.encode(), chance)
        if chance.random() < 0.8:
            changed = changed.decode(errors="replace")
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed, row))
        connection.commit()
        stored = connection.serialize()
    return stored[:18] + content[18:20] + stored[20:]


BYTES: tuple[Mutation, ...] = (
    flip_bits,
    set_bytes,
    delete_slice,
    insert_bytes,
    cut_off,
    duplicate_slice,
    swap_slices,
    put_magic,
    encode_otherwise,
    replace_all,
)


def members_of(name: str) -> tuple[Mutation, ...]:
    """Return the mutations for a member of an archive, by its name."""
    if name.endswith(".npy"):
        return (change_array, change_array, flip_bits, cut_off)
    if name.endswith((".json", "schema")):
        return (change_document, change_document, change_document, flip_bits)
    return BYTES


# What is done to a kind of format besides changes of its bytes.
STRUCTURED: dict[str, Mutation] = {
    "json": change_document,
    "lines": change_lines,
    "toml": change_toml,
    "csv": change_table,
    "zip": change_member(members_of),
    "sqlite": change_database,
}


def mutate(content: bytes, form: str, chance: random.Random) -> bytes:
    """Return a damaged copy of a file; one of four is damaged in its bytes only.

    Parameters
    ----------
    content : bytes
    form : str
        A key of `STRUCTURED`, or any other word for bytes only.
    chance : random.Random
        The same, the same copy.
    """
    if form in STRUCTURED and chance.random() < 0.75:
        return STRUCTURED[form](content, chance)
    return chance.choice(BYTES)(content, chance)


def _slice(content: bytes, chance: random.Random, longest: int = 2**20) -> tuple[int, int]:
    start = chance.randint(0, len(content))
    length = chance.choice([1, 4, 64, len(content)])
    return start, min(len(content), start + chance.randint(0, min(length, longest)))
