"""A training is killed at any moment: what it left half is refused, and made whole by the next."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from killing import Ended, Killer, files_of, spread

MOST = 14

Train = Callable[..., Ended]


@pytest.fixture
def train(killer: Killer) -> Train:
    def run(seed: int, kill_at: int | None = None) -> Ended:
        return killer.run(
            "train", "demo", "--limit", "300", "--seed", str(seed), "--out", "model",
            "--reproducible",
            kill_at=kill_at,
            prepared_by="child_programs:train_without_tensorflow",
        )  # fmt: skip

    return run


def audit(killer: Killer) -> Ended:
    settings = ["--limit", "150", "--max-features", "1", "--out", "reports", "--quiet"]
    few = ["--replicates", "99", "--stability", "0"]
    return killer.run("audit", "demo", "--model", "model/model.keras", *settings, *few)


def assert_model_is_whole_or_refused(killer: Killer, wholes: list[dict[str, bytes]]) -> bool:
    """Audit a network that may be half of one training and half of another; say if it was."""
    is_whole = files_of(killer.folder / "model") in wholes
    audited = audit(killer)
    if is_whole:
        assert audited.code == 0
    else:
        assert (audited.code, audited.out, audited.err.count("\n")) == (2, "", 1)
        assert audited.err.startswith("testsgd: ")
    return not is_whole


def test_network_is_replaced_whole(killer: Killer, train: Train, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    assert train(1).code == 0
    kept = shutil.copytree(folder, tmp_path / "kept")
    old = files_of(folder)
    whole = train(2)
    assert (whole.code, whole.err) == (0, "")
    new = files_of(folder)
    assert old["model.keras"] != new["model.keras"]
    assert old["preprocessing.json"] != new["preprocessing.json"]
    refused = 0
    for step in spread(whole.steps, MOST):
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        assert train(2, kill_at=step).killed
        found = files_of(folder)
        assert all(found[name] in (old[name], new[name]) for name in old)
        refused += assert_model_is_whole_or_refused(killer, [old, new])
        assert train(2).code == 0
        assert files_of(folder) == new
        assert sorted(path.name for path in folder.iterdir()) == sorted(new)
    # A kill between two moves was among them.
    assert refused >= 1


def test_first_network(killer: Killer, train: Train, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    whole = train(1)
    new = files_of(folder)
    # The last moves are where something of it is there already.
    for step in range(max(1, whole.steps - 5), whole.steps + 1):
        shutil.rmtree(folder)
        assert train(1, kill_at=step).killed
        found = files_of(folder)
        assert all(found[name] == new[name] for name in found)
        if "card.json" not in found:
            # A network without a card is audited without the figures that a card has.
            assert audit(killer).code == (0 if "preprocessing.json" in found else 2)
        assert train(1).code == 0
        assert files_of(folder) == new
