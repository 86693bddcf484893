"""Files of shields: a header of JSON and arrays, without pickle."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._version import __version__
from testsgd.errors import ShieldFileError, TestSGDError
from testsgd.io import (
    DAMAGED_ARCHIVE,
    array_sizes,
    check_regular,
    is_archive,
    is_reproducible,
    loads_json,
    read_arrays,
    write_arrays,
)
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running.periods import period_problem
from testsgd.shielding.solving import Policy, WindowedPolicy
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import ShieldProblem, Solution

FORMAT = "testsgd.shield"
# Version 2 has a digest of the decisions.
VERSION = 2
_NO_SHIELD = "the file is no shield"
_HEADER = "header"
_LAYER = "layer."
_LONGEST_HEADER = 16 * 2**20
# Before the numbers of each array, a few words about its type and shape.
_ARRAY_HEADER = 10_000
# What is raised at contents that are not what they should be.
_BROKEN = (*DAMAGED_ARCHIVE, KeyError, TypeError, TestSGDError)


@dataclass(frozen=True)
class SavedShield:
    """The contents of a shield's file; the `solution` is of the first period."""

    specification: ShieldSpecification
    inputs: InputDistribution
    solution: Solution


def write_shield(
    path: Path, specification: ShieldSpecification, inputs: InputDistribution, solution: Solution
) -> int:
    """Write a shield to a file, whole or not at all, and return the file's bytes.

    The solution is of the first period.
    """
    policy = solution.policy
    layers = policy.layers if isinstance(policy, Policy) else policy.kept
    by_step = dict(layers) if isinstance(layers, Mapping) else dict(enumerate(layers))
    arrays = {f"{_LAYER}{step}": array for step, array in sorted(by_step.items())}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"testsgd {__version__}",
        "specification": specification.to_dict(),
        "inputs": inputs.to_dict(),
        "digest": specification.digest(inputs),
        "policy_digest": _digest(arrays),
        "expected_cost": solution.expected_cost if solution.feasible else None,
        "seconds": None if is_reproducible() else solution.seconds,
        "stored": "whole" if isinstance(policy, Policy) else "windows",
        "width": policy.width if isinstance(policy, WindowedPolicy) else None,
    }
    text = json.dumps(header, sort_keys=True, indent=1).encode()
    written = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    return write_arrays(path, written, compressed=True)


def read_shield(path: Path) -> SavedShield:
    """Return the contents of a shield's file.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    SavedShield

    Raises
    ------
    ShieldFileError
        If there is no such file, it is no shield or one of another version, or it was changed:
        its digests are of its specification, and of its decisions.
    """
    try:
        check_regular(path)
        if not is_archive(path):
            raise _unusable(path, _NO_SHIELD)
        return _read(path)
    except ShieldFileError:
        raise
    except FileNotFoundError as error:
        raise _unusable(path, "there is no such file") from error
    except OSError as error:
        raise _unusable(path, f"the file cannot be read ({error.strerror or error})") from error
    except _BROKEN as error:
        raise _unusable(path, f"the file is damaged ({error})") from error


def check_specification(
    path: Path, saved: SavedShield, expected: ShieldSpecification, folder: Path | None = None
) -> None:
    """Raise a ShieldFileError if a shield is of another specification, or of a changed log.

    The error names the keys whose values differ.
    """
    saved_values = _flat(saved.specification.to_dict())
    expected_values = _flat(expected.to_dict())
    keys = sorted(
        key
        for key in saved_values.keys() | expected_values.keys()
        if saved_values.get(key) != expected_values.get(key)
    )
    if keys:
        old = saved_values.get(keys[0])
        new = expected_values.get(keys[0])
        what = f"the shield is of another specification: {keys[0]} is {old!r}, not {new!r}"
        if len(keys) > 1:
            what += f" ({', '.join(keys[1:])} differ too)"
        raise _unusable(path, what, keys=keys)
    if expected.digest(expected.input_distribution(folder)) != saved.specification.digest(
        saved.inputs
    ):
        what = "the shield was made for other probabilities of the inputs, the log has changed"
        raise _unusable(path, what, keys=["inputs"])


def _read(path: Path) -> SavedShield:
    """Return what a file holds; the header is checked first, and how large it says the layers are.

    A whole layer of equal decisions is compressed by 1,000, so sizes alone tell nothing.
    """
    sizes = array_sizes(path)
    if _HEADER not in sizes:
        raise _unusable(path, _NO_SHIELD)
    if sizes[_HEADER] > _LONGEST_HEADER:
        raise _unusable(path, "the file is damaged (its header is too long)")
    header = loads_json(read_arrays(path, only=[_HEADER])[_HEADER].tobytes())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _unusable(path, _NO_SHIELD)
    version = header.get("version")
    if version != VERSION:
        program = header.get("written_by", "an unknown program")
        what = f"the file has version {version!r}, not {VERSION}; it is by {program}"
        raise _unusable(path, what, version=version)
    specification = ShieldSpecification.from_dict(header["specification"], where=str(path))
    inputs = InputDistribution.from_dict(header["inputs"])
    if specification.digest(inputs) != header["digest"]:
        how = "its specification is not the one it was written with"
        raise _unusable(path, f"the file is damaged ({how})")
    problem = period_problem(specification, inputs)
    declared = _declared_layers(problem, header)
    for name in sizes:
        layer = declared.get(name)
        if name != _HEADER and (layer is None or sizes[name] > layer.bytes + _ARRAY_HEADER):
            raise _unusable(path, f"the file is damaged ({name} has the wrong size)")
    arrays = read_arrays(path, only=declared)
    if _digest(arrays) != header["policy_digest"]:
        how = "its decisions are not those it was written with"
        raise _unusable(path, f"the file is damaged ({how})")
    written_cost = header["expected_cost"]
    expected_cost = math.inf if written_cost is None else float(written_cost)
    solution = Solution(
        problem=problem,
        policy=_policy(problem, arrays, declared, header),
        expected_cost=expected_cost,
        seconds=float(header["seconds"] or 0.0),
    )
    return SavedShield(specification, inputs, solution)


@dataclass(frozen=True)
class _Layer:
    """An array that the header of a file declares, of one axis."""

    step: int
    size: int
    type: np.dtype[Any]

    @property
    def bytes(self) -> int:
        return self.size * self.type.itemsize


def _declared_layers(problem: ShieldProblem, header: dict[str, Any]) -> dict[str, _Layer]:
    """Return the layers of a file by name: packed codes of all, or values of every width-th one."""
    lattice = problem.lattice
    if header["stored"] == "whole":
        halved = problem.transitions.halved
        code_type = np.dtype(np.uint8) if halved else problem.transitions.code_type
        sizes = map(lattice.size, range(problem.horizon))
        layers = [
            _Layer(step, (size + 1) // 2 if halved else size, code_type)
            for step, size in enumerate(sizes)
        ]
    else:
        width = int(header["width"])
        layers = [
            _Layer(step, lattice.size(step), np.dtype(np.float64))
            for step in range(width, problem.horizon, width)
        ]
    return {f"{_LAYER}{layer.step}": layer for layer in layers}


def _policy(
    problem: ShieldProblem,
    arrays: Mapping[str, NDArray[Any]],
    declared: Mapping[str, _Layer],
    header: dict[str, Any],
) -> Policy | WindowedPolicy:
    """Return the policy of a file; a ValueError if an array is not as declared."""
    layers: dict[int, NDArray[Any]] = {}
    for name, layer in declared.items():
        array = arrays[name]
        if array.shape != (layer.size,) or array.dtype != layer.type:
            raise ValueError(f"the decisions of step {layer.step} have the wrong size")
        layers[layer.step] = array
    if header["stored"] == "whole":
        return Policy(problem.lattice, problem.transitions, list(layers.values()))
    return WindowedPolicy(
        problem.lattice,
        problem.transitions,
        width=int(header["width"]),
        final=problem.final_values,
        kept=layers,
    )


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the sha256 of arrays, with their names, types and shapes, in hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Return the values of nested dictionaries by their whole paths, such as ``horizon.length``."""
    if not isinstance(values, dict):
        return {prefix: values}
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat


def _unusable(path: Path, what: str, **details: Any) -> ShieldFileError:
    remedy = "synthesise the shield again, or give another file"
    return ShieldFileError(what, where=str(path), remedy=remedy, **details)
