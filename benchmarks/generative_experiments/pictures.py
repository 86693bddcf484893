"""Assess drawn portraits, and again with an enforcer before the model; the report shows them.

``python -m benchmarks.generative_experiments.pictures`` starts the stand-in of an image model on
this machine, asks for portraits of poor people, overweight people and business leaders as they
come, and asks again through an enforcer. A network reads sex, skin and age from the pictures. The
report has the first ones of both, as Figure 1 of the conditional-fairness paper has.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generative_experiments.portraits.generator import Generator
from benchmarks.generative_experiments.portraits.png import png, read_png
from benchmarks.generative_experiments.portraits.server import PortraitServer
from testsgd import Enforcer, GenerativeResult, assess_generative
from testsgd.generative import GenerativeSpecification, ModelRequest
from testsgd.generative.upstream import Upstream

_ROOT = Path(__file__).resolve().parent.parent.parent
_SPECIFICATION = _ROOT / "examples" / "generative" / "portraits.toml"
_NAME = "generative-portraits"
# Pixels of a side, and the steps of a colour, of the pictures in the report: few, so that the
# report stays small. The network reads the pictures as they came.
_SIDE = 64
_STEP = 16


@dataclass(frozen=True)
class Outputs:
    """Outputs in their order, as an assessment takes them."""

    rows: list[dict[str, Any]]  # prompt, output, and what was asked for.
    asked_again: int = 0  # How often the model had to be asked once more.
    missed: int = 0  # Deadlines that passed all the same.

    @property
    def thumbnails(self) -> list[bytes]:
        """The pictures, small enough for a report."""
        return [small(row["output"]) for row in self.rows]


def main() -> None:
    """Read the command line, ask and assess twice, write the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=_ROOT / "reports", help="folder of the reports")
    parser.add_argument("--number", type=int, default=40, help="pictures of each prompt")
    parser.add_argument("--obedience", type=float, default=0.9, help="of the model, from 0 to 1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    specification = GenerativeSpecification.read(_SPECIFICATION)
    prompts = specification.filled_prompts() * options.number
    with model(specification, obedience=options.obedience, seed=options.seed) as upstream:
        plain = as_they_come(upstream, prompts)
    before = assess_generative(plain.rows, specification, pictures=plain.thumbnails)
    enforcer = Enforcer(specification, random_state=options.seed)
    with model(specification, obedience=options.obedience, seed=options.seed) as upstream:
        enforced = enforced_outputs(enforcer, upstream, prompts)
    result = assess_generative(
        enforced.rows, specification, before=before, pictures=enforced.thumbnails
    )
    written = result.write(options.out / _NAME)
    print_waits(before, result)
    print(f"Asked again: {enforced.asked_again}; deadlines missed: {enforced.missed}")
    for path in written:
        print(f"Written: {path} ({path.stat().st_size / 1e6:.2f} MB)")


@contextmanager
def model(
    specification: GenerativeSpecification, *, obedience: float, seed: int
) -> Iterator[Upstream]:
    """Start the stand-in on a free port of this machine, and stop it at the end."""
    generator = Generator(obedience=obedience, random_state=seed)
    with PortraitServer(generator) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with Upstream(server.address, specification.upstream) as upstream:
                yield upstream
        finally:
            server.shutdown()
            thread.join()


def as_they_come(upstream: Upstream, prompts: tuple[str, ...]) -> Outputs:
    """Ask for an output to each prompt."""
    rows = [
        {"prompt": prompt, "output": upstream.ask(ModelRequest(prompt))[0]} for prompt in prompts
    ]
    return Outputs(rows)


def enforced_outputs(enforcer: Enforcer, upstream: Upstream, prompts: tuple[str, ...]) -> Outputs:
    """Ask for an output to each prompt, for a value where the enforcer wants one."""
    rows = []
    asked_again = 0
    missed = 0
    for prompt in prompts:
        ticket = enforcer.begin(prompt)
        output, _ = upstream.ask(ticket.edited.request)
        finished = enforcer.finish(ticket, output)
        while finished.again is not None:
            asked_again += 1
            ticket = finished.again
            output, _ = upstream.ask(ticket.edited.request)
            finished = enforcer.finish(ticket, output)
        missed += len(finished.missed)
        asked = {wanted.grouping: wanted.value for wanted in ticket.wanted}
        rows.append({"prompt": prompt, "output": output, "asked": asked})
    return Outputs(rows, asked_again=asked_again, missed=missed)


def small(picture: bytes) -> bytes:
    """Return a picture with fewer pixels and colours.

    Examples
    --------
    >>> read_png(small(png(np.zeros((128, 128, 3), dtype=np.uint8)))).shape
    (64, 64, 3)
    """
    pixels = read_png(picture).astype(float)
    each = len(pixels) // _SIDE
    blocks = pixels.reshape(_SIDE, each, _SIDE, each, 3).mean(axis=(1, 3))
    few = np.clip(np.round(blocks / _STEP) * _STEP, 0, 255)
    return png(few.astype(np.uint8))


def print_waits(before: GenerativeResult, result: GenerativeResult) -> None:
    """Print the shares and smallest betas of every requirement, before and now."""
    for earlier, now in zip(before.summary.sequences, result.summary.sequences, strict=True):
        print(f"{now.name}: {earlier.standing}, then {now.standing}")
        for old, new in zip(earlier.values, now.values, strict=True):
            print(
                f"  {new.name}: {old.count} of {earlier.related}, then {new.count} of "
                f"{now.related}; smallest beta {old.smallest_beta}, then {new.smallest_beta} "
                f"(at most {new.beta}); asked {new.asked}, obeyed {new.obeyed}"
            )


if __name__ == "__main__":
    main()
