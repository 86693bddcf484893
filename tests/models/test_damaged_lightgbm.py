"""A LightGBM text whose trees would end the process, or never end, is refused before it is read."""

from __future__ import annotations

import re
from pathlib import Path

import booster_models
import pytest

from testsgd.errors import ModelError
from testsgd.models.booster_files import read_lightgbm


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path, _ = booster_models.lightgbm_file(tmp_path_factory.mktemp("lightgbm"))
    return path.read_text()


def test_a_sound_text_is_read(tmp_path: Path, text: str) -> None:
    path, said = booster_models.lightgbm_file(tmp_path)
    rows, _ = booster_models.people()
    assert read_lightgbm(path).predict(rows).tolist() == said(rows).tolist()


# Each keeps the length, so that nothing but the tree itself is wrong.
@pytest.mark.parametrize(
    ("found", "instead"),
    [
        (r"(?m)^left_child=(\d)", "left_child=0"),  # the root is its own child
        (r"(?m)^split_feature=\d", "split_feature=9"),
        (r"(?m)^num_leaves=\d", "num_leaves=9"),
        (r"(?m)^tree_sizes=\d", "tree_sizes=9"),
        (r"(?m)^Tree=1$", "Tree=7"),
        (r"(?m)^num_cat=0", "num_cat=5"),
        (r"(?m)^threshold=\d", "threshold=x"),
        (r"(?m)^\[extra_trees: 0\]", "[extra_trees_0]"),
        (r"(?m)^\[verbosity: -1\]", "[verbosity: -\0]"),
    ],
)
def test_a_text_that_is_not_sound_is_refused(
    tmp_path: Path, text: str, found: str, instead: str
) -> None:
    damaged = re.sub(found, instead, text, count=1)
    assert damaged != text
    path = tmp_path / "model.txt"
    path.write_text(damaged)
    with pytest.raises(ModelError) as raised:
        read_lightgbm(path)
    assert "\n" not in str(raised.value)
