"""Files of plain bounds: JSON with the lists ``minimum`` and ``maximum``, and ``.nnet`` headers."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.certification.domain.domain import choice
from testsgd.certification.network.nnet_files import MAXIMA, MINIMA, content_lines
from testsgd.data import bundled_folder
from testsgd.errors import SpecificationError


def _text(path: Path, kind: str, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError(
            f"the file is no {kind}", where=str(path), remedy=remedy
        ) from error


def read_nnet_bounds(path: Path) -> Mapping[str, Any]:
    """Read minima and maxima from the header of an ``.nnet`` file; 1.0 is a float, 1 is not."""
    lines = content_lines(_text(path, "text", "give an .nnet file"))
    try:
        width = int(lines[0].split(",")[1])
        low, high = (
            [json.loads(cell) for cell in lines[place].split(",") if cell.strip()][:width]
            for place in (MINIMA, MAXIMA)
        )
        if not len(low) == len(high) == width:
            raise ValueError
    except (IndexError, ValueError) as error:
        raise SpecificationError(
            "the header does not say minimum and maximum of each input",
            where=str(path),
            remedy="give the domain in a file of its own",
        ) from error
    return {"minimum": low, "maximum": high}


def read_json_bounds(path: Path, key: str | None) -> Mapping[str, Any]:
    """Read the bounds of a domain; `key` names one of several in the file."""
    remedy = "give a domain in JSON or TOML"
    try:
        document = json.loads(_text(path, "JSON", remedy))
    except (ValueError, RecursionError) as error:
        raise SpecificationError("the file is no JSON", where=str(path), remedy=remedy) from error
    domains: Mapping[str, Any] = document if isinstance(document, dict) else {}
    if key is None:
        if "minimum" in domains:
            return domains
        example = f"name one of its domains: {path.name}:{next(iter(domains), '')}"
        raise SpecificationError(
            "the file has no list `minimum`",
            where=str(path),
            remedy=example if domains else "give the lists `minimum` and `maximum`",
        )
    bounds = domains.get(key)
    if not isinstance(bounds, dict):
        raise SpecificationError(
            f"there is no domain {key!r} in the file",
            where=str(path),
            remedy=choice(key, domains) if domains else "check the file",
        )
    return bounds


@functools.cache
def shipped_domains() -> dict[str, Path]:
    """List the domains that come with the package, such as ``fairify/adult``, and their files."""
    folder = bundled_folder("datasets") / "domains"
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.toml")
    }
    return dict(sorted(files.items()))
