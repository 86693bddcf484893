"""Training on texts that cannot be: each reason is an error, and nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.data import TextSpecification
from testsgd.data.text import Texts, check_texts
from testsgd.errors import DataError, MissingExtraError, ParameterError, SpecificationError
from testsgd.models import train_text_network

DESCRIPTION: dict[str, Any] = {
    "dataset": {"name": "remarks"},
    "text": {},
    "label": {"column": "label", "favourable": "kind", "values": ["kind", "foul"]},
}
SPECIFICATION = TextSpecification.model_validate(DESCRIPTION)


def remarks(kind: int, foul: int, **changes: Any) -> Texts:
    labels = np.array(["kind"] * kind + ["foul"] * foul, dtype=object)
    texts = tuple(f"remark number {n}" for n in range(kind + foul))
    return Texts(
        **{
            "specification": SPECIFICATION,
            "texts": texts,
            "labels": labels,
            "parts": None,
            "source": "remarks.csv",
            **changes,
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    target = tmp_path / "network"
    yield target
    assert not target.exists()


@pytest.mark.parametrize("package", ["tensorflow", "keras"])
def test_without_tensorflow_the_install_line_is_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    # None among the modules is how Python marks one that cannot be imported.
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'testsgd\[tensorflow\]'"):
        train_text_network(remarks(30, 30), folder)


def test_texts_without_labels(folder: Path) -> None:
    texts = check_texts(["one", "two"], SPECIFICATION, source="list")
    with pytest.raises(DataError, match="list: the label column 'label' is missing"):
        train_text_network(texts, folder)


@pytest.mark.parametrize(("kind", "foul"), [(0, 0), (1, 5), (5, 1), (3, 3), (40, 0), (0, 40)])
def test_too_few_texts_of_one_label(folder: Path, kind: int, foul: int) -> None:
    message = rf"remarks\.csv: {kind + foul} text\(s\), {kind} of them .*too few to be split"
    with pytest.raises(DataError, match=message):
        train_text_network(remarks(kind, foul), folder)


def test_a_list_of_terms_that_is_missing(folder: Path) -> None:
    described = TextSpecification.model_validate({**DESCRIPTION, "terms": "no-such-terms.toml"})
    with pytest.raises((SpecificationError, DataError), match="no-such-terms"):
        train_text_network(remarks(30, 30, specification=described), folder)


@pytest.mark.parametrize(("option", "value"), [("seed", -1), ("seed", 2**32), ("epochs", 0)])
def test_a_number_out_of_range(folder: Path, option: str, value: int) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(ParameterError, match=f"{option}: {value} is not"):
        train_text_network(remarks(30, 30), folder, **options)
