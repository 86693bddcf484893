"""What children do before a command, or in place of one: kept small, so that kills are many."""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np


def train_without_tensorflow() -> None:
    """Let a training take no time: the network is the demo's with other weights, by the seed."""
    from testsgd.data import bundled_folder
    from testsgd.models import training
    from testsgd.models.files import KerasArchive

    seeds: list[int] = []

    def seeded(seed: int) -> Any:
        seeds.append(seed)
        return mock.MagicMock()

    def written(_keras: Any, _network: Any, target: Path) -> None:
        content = (bundled_folder("models") / "demo" / "model.keras").read_bytes()
        last = np.full((4, 1), 0.1 * (1 + seeds[-1]), dtype=np.float32)
        bias = np.full(1, -0.1, dtype=np.float32)
        archive = KerasArchive(content)
        key = f"{archive.layer_names[-1]}/vars"
        target.write_bytes(archive.with_arrays({key: [last, bias]}))

    training.seeded_keras = seeded
    training.fit = lambda *_, **__: {"epochs": 1, "seconds": 0.1}
    training.write_network = written


def write_checkpoints_often() -> None:
    """Let the first checkpoint be written at once, and further ones after hundredths of seconds."""
    from testsgd.certification import run

    run._FIRST_CHECKPOINT = 0.01
    run._CHECKPOINT = 0.03


def answer_without_model() -> None:
    """Let the model be one that answers by the seed that it is sent."""
    from testsgd.generative import upstream

    def ask(_model: Any, _request: Any, *, seed: int) -> tuple[str, dict[str, str]]:
        return f" {'she' if random.Random(seed).random() < 0.5 else 'he'} said naïvely {seed}.", {}

    upstream.Upstream.ask = ask


def labels(number: int) -> list[int]:
    """Return what the outputs of the enforced model are, in their order."""
    return random.Random(3).choices([1, 2], k=number)


def enforce(arguments: list[str]) -> int:
    """Enforce a requirement on so many outputs, from the first that the journal does not have."""
    from testsgd.generative import Enforcer

    state, number, now = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    specification = {
        "groupings": {"kind": {"values": ["v1", "v2"]}},
        "requirements": [{"grouping": "kind", "beta": 500}],
        "enforcement": {"ticket_seconds": 500},
    }
    clock = itertools.count(now)
    enforcer = Enforcer(
        specification,
        state=state,
        classify={"kind": lambda output: output},
        random_state=1,
        clock=lambda: next(clock),
    )
    # A request that was open when its process was killed has no output.
    counted = sum(json.loads(line)["kind"] is not None for line in enforcer.journal())
    for place in range(counted, number):
        ticket = enforcer.begin("anything")
        enforcer.finish(ticket, f"v{labels(number)[place]}")
        print(place, flush=True)
    beside = state.with_name(f"{state.name}-wal")
    print("bytes", beside.stat().st_size if beside.exists() else 0, flush=True)
    with sqlite3.connect(state) as connection:
        print("integrity", *connection.execute("PRAGMA integrity_check").fetchone(), flush=True)
    enforcer.close()
    return 0


def play_few_rounds() -> None:
    """Let a frontier be found with few refits."""
    from testsgd.mitigation.frontiers import playing

    playing._ROUNDS = 1
    playing._FOLDS = 2
    playing.STRENGTHS = playing.STRENGTHS[::3]
