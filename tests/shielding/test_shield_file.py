"""Files of shields: the same decisions after reading, and clear words for what is no such file."""

from __future__ import annotations

import json
import math
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shield_runs import specification

from testsgd.errors import GuaranteeBrokenError, ShieldFileError
from testsgd.shielding.running import Shield, shield_file
from testsgd.shielding.synthesis import Storage

KINDS: list[dict[str, Any]] = [
    {},
    {"property": "equal_opportunity", "inputs": {"costs": [0.1, 2.5]}},
    {"names": ("x", "ü", "a,b"), "length": 6, "empty_group": "zero"},
    {"shield": "dynamic", "bound": "1/3", "length": 4},
    {
        "shield": "static-bounded-welfare",
        "welfare": ["1/3", "2/3"],
        "bound": "1/3",
        "length": 6,
        "inputs": {"costs": [0.1, 0.7, 3.0]},
    },
]


def decisions(shield: Shield, events: int) -> list[int]:
    chance = random.Random(5)
    made = []
    for _ in range(events):
        made.append(shield.decide(chance.choice(shield.inputs.groups), chance.randrange(2), 0.6))
        if shield.pending:
            shield.observe(chance.randrange(2))
    return made


@pytest.mark.parametrize("storage", ["whole", "windows"])
@pytest.mark.parametrize("keys", KINDS)
def test_there_and_back(keys: dict[str, Any], storage: Storage, tmp_path: Path) -> None:
    path = tmp_path / "shield.npz"
    shield = Shield.synthesize(specification(**keys), storage=storage)
    shield.save(path)
    read = Shield.load(path, specification=shield.specification)
    assert read.specification == shield.specification
    assert read.expected_cost == shield.expected_cost
    events = shield.specification.horizon.length * (1 if keys.get("shield") is None else 3)
    assert decisions(read, events) == decisions(shield, events)
    assert read.to_dict() == shield.to_dict()
    # What was decided is no part of the file.
    other = tmp_path / "other.npz"
    shield.save(other)
    assert Shield.load(other).to_dict() == Shield.load(path).to_dict()


def test_long_horizons_in_windows(tmp_path: Path) -> None:
    path = tmp_path / "shield.npz"
    wanted = specification(length=110, empty_group="zero")
    whole = Shield.synthesize(wanted, storage="whole")
    Shield.synthesize(wanted, storage="windows").save(path)
    windows = Shield.load(path)
    assert type(windows._policy.first_solution().policy).__name__ == "WindowedPolicy"
    assert decisions(windows, 110) == decisions(whole, 110)


def test_the_same_shield_gives_the_same_layers(tmp_path: Path) -> None:
    shield = Shield.synthesize(specification())
    shield.save(tmp_path / "one.npz")
    shield.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
    assert header["format"] == "testsgd.shield"
    assert header["version"] == 2
    assert header["digest"] == shield.specification.digest(shield.inputs)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "shield.npz"
    Shield.synthesize(specification()).save(path)
    return path


def rewrite(path: Path, **changes: Any) -> None:
    """Change keys of the header, or arrays by name; None takes one away."""
    with np.load(path) as archive:
        arrays: dict[str, Any] = dict(archive.items())
    header = json.loads(arrays["header"].tobytes())
    for key, value in changes.items():
        if key in header:
            header[key] = value
        elif value is None:
            del arrays[key.replace("_", ".")]
        else:
            arrays[key.replace("_", ".")] = value
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def test_another_specification_is_refused(saved: Path) -> None:
    with pytest.raises(
        ShieldFileError,
        match=r"of another specification: fairness.bound is '1/10', not '1/5' \(horizon.length",
    ) as caught:
        Shield.load(saved, specification=specification(bound="1/5", length=9))
    assert caught.value.details["keys"] == ["fairness.bound", "horizon.length"]
    with pytest.raises(ShieldFileError, match=r"groups.names"):
        Shield.load(saved, specification=specification(names=("a", "c")))


def test_a_log_that_changed_is_noticed(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "shield.npz"
    log.write_text("group,recommendation\na,1\nb,0\n")
    wanted = specification(inputs={"log": "log.csv"})
    Shield.synthesize(wanted, folder=tmp_path).save(path)
    Shield.load(path, specification=wanted, folder=tmp_path)
    log.write_text("group,recommendation\na,1\nb,0\nb,1\n")
    with pytest.raises(ShieldFileError, match="the log has changed"):
        Shield.load(path, specification=wanted, folder=tmp_path)
    log.unlink()
    assert Shield.load(path).decide("a", 1) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": 1}, "the file has version 1, not 2; it is by testsgd"),
        ({"format": "something"}, "the file is no shield"),
        ({"digest": "0"}, "damaged"),
        ({"stored": "windows", "width": 4}, "damaged"),
        ({"specification": {}}, "damaged"),
        ({"inputs": {}}, "damaged"),
        ({"layer_3": None}, "damaged"),
        ({"layer_3": np.zeros(3, np.uint8)}, "damaged"),
        ({"layer_3": np.zeros(3)}, "damaged"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str, saved: Path) -> None:
    rewrite(saved, **changes)
    with pytest.raises(ShieldFileError, match=words) as caught:
        Shield.load(saved)
    assert caught.value.where == str(saved)
    assert "\n" not in str(caught.value)


def test_what_is_no_shield_is_refused(tmp_path: Path, saved: Path) -> None:
    path = tmp_path / "other"
    with pytest.raises(ShieldFileError, match="there is no such file"):
        Shield.load(path)
    with pytest.raises(ShieldFileError, match="cannot be read"):
        Shield.load(tmp_path)
    for content in (b"", b"text", b"PK\x03\x04 no archive", saved.read_bytes()[:-100]):
        path.write_bytes(content)
        with pytest.raises(ShieldFileError, match="no shield"):
            Shield.load(path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ShieldFileError, match="no shield"):
        Shield.load(tmp_path / "array.npy")
    np.savez(tmp_path / "arrays.npz", header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ShieldFileError, match="damaged"):
        Shield.load(tmp_path / "arrays.npz")


def test_a_changed_byte_is_noticed(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        member = archive.getinfo("layer.9.npy")
        middle = member.header_offset + 40 + member.compress_size // 2
    content = bytearray(saved.read_bytes())
    content[middle] ^= 0xFF
    saved.write_bytes(content)
    with pytest.raises(ShieldFileError, match="damaged"):
        Shield.load(saved)


def without_decisions(path: Path, *, digest: bool) -> None:
    """Rewrite a file so that its policy changes nothing, with a digest that fits or as it was."""
    with np.load(path) as archive:
        layers = {name: np.zeros_like(array) for name, array in archive.items() if name != "header"}
    changes: dict[str, Any] = {name.replace(".", "_"): array for name, array in layers.items()}
    if digest:
        changes["policy_digest"] = shield_file._digest(layers)
    rewrite(path, **changes)


def test_other_decisions_are_not_loaded(saved: Path) -> None:
    without_decisions(saved, digest=False)
    with pytest.raises(ShieldFileError, match="its decisions are not those"):
        Shield.load(saved)


def unfair(shield: Shield, events: int) -> int:
    """Recommend to accept one group and to reject the other; return how many were decided."""
    for number in range(events):
        group, recommendation = [("a", 1), ("b", 0)][number % 2]
        try:
            shield.decide(group, recommendation)
        except GuaranteeBrokenError:
            return number
    return events


def test_a_policy_that_does_not_keep_the_bound_is_stopped_at_the_end_of_the_period(
    saved: Path, tmp_path: Path
) -> None:
    assert unfair(Shield.load(saved), 10) == 10
    # Somebody who changes the decisions may change their digest, too.
    without_decisions(saved, digest=True)
    journal = tmp_path / "journal"
    shield = Shield.load(saved, journal=journal)
    assert unfair(shield, 10) == 9
    assert (shield.bias, shield.step) == (1, 10)
    with pytest.raises(GuaranteeBrokenError) as caught:
        shield.decide("a", 1)
    assert caught.value.details["period"] == 0
    shield.close()
    with pytest.raises(GuaranteeBrokenError):
        Shield.load(saved, journal=journal)


@pytest.mark.parametrize("keys", KINDS)
def test_a_sound_policy_is_never_stopped(keys: dict[str, Any]) -> None:
    shield = Shield.synthesize(specification(**keys))
    periods = 1 if keys.get("shield") is None else 5
    decisions(shield, shield.specification.horizon.length * periods)


def test_no_shield_is_kept_as_infinite_cost(tmp_path: Path) -> None:
    path = tmp_path / "shield.npz"
    shield = Shield.synthesize(specification(shield="static-fair"))
    first = shield._policy.first_solution()
    none = type(first)(first.problem, first.policy, math.inf, 0.0)
    Shield(shield.specification, shield.inputs, none).save(path)
    assert not Shield.load(path).active
