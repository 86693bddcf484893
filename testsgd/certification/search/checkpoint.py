"""Checkpoints: a search is written to a file, and continued from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.outcome import Moment, Shares
from testsgd.certification.search.branch_and_bound import BINS, BranchAndBound, OpenBoxes, SplitTree
from testsgd.errors import ResultError
from testsgd.io import (
    CHECKPOINT,
    DAMAGED_ARCHIVE,
    kind_of_file,
    loads_json,
    read_arrays,
    write_arrays,
)

_VERSION = 2


def fingerprint(network: FeedForward, domain: Domain) -> str:
    """Return a digest of a network and a domain, which differs for another of either.

    Parameters
    ----------
    network : FeedForward
        The network; of it the layers, the inputs, the decision and the precision count.
    domain : Domain
        The domain, without its name.

    Returns
    -------
    str
        A SHA-256 digest in hexadecimal digits.
    """
    digest = hashlib.sha256()
    for part in (
        network.layers,
        network.inputs,
        network.decision,
        network.precision,
        domain.inputs,
        domain.protected,
        domain.protected_values,
        sorted(domain.marginals.items()),
        BINS,
    ):
        _digest(digest, part)
    return digest.hexdigest()


def _digest(digest: Any, part: object) -> None:
    """Add a value to a digest; numbers with all their digits, unlike what arrays print."""
    if isinstance(part, np.ndarray):
        digest.update(f"array {part.shape} {part.dtype};".encode())
        digest.update(part.tobytes())
    elif is_dataclass(part):
        digest.update(f"{type(part).__name__};".encode())
        for field in fields(part):
            if field.repr:  # others are made from these
                _digest(digest, getattr(part, field.name))
    elif isinstance(part, (tuple, list)):
        digest.update(f"{len(part)} of;".encode())
        for item in part:
            _digest(digest, item)
    else:
        digest.update(f"{part!r};".encode())


def write_checkpoint(
    path: Path, search: BranchAndBound, about: str, seconds: float, moments: list[Moment]
) -> None:
    """Write a search into a file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced.
    search : BranchAndBound
        The search.
    about : str
        The :func:`fingerprint` of the network and the domain.
    seconds : float
        How long the search has run.
    moments : list of Moment
        The shares over time.
    """
    notes = {
        "version": _VERSION,
        "about": about,
        "seconds": seconds,
        "fair": search.fair,
        "unfair": search.unfair,
        "looks": search.looks,
        "moments": [asdict(moment) for moment in moments],
        "examples": [[lo.tolist(), hi.tolist()] for lo, hi in search.examples],
    }
    arrays: dict[str, Any] = {
        "notes": np.array(json.dumps(notes)),
        **search.boxes.to_arrays(),
        **search.tree.to_arrays(),
    }
    write_arrays(path, {"digest": np.array(_digest_of(arrays)), **arrays})


def _digest_of(arrays: Mapping[str, Any]) -> str:
    """Return a digest of all that a checkpoint holds: a changed number would be a wrong proof."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}, {array.dtype.str}, {array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def read_checkpoint(path: Path, search: BranchAndBound, about: str) -> tuple[float, list[Moment]]:
    """Restore a search from a checkpoint, and return the seconds it had run and its moments.

    Parameters
    ----------
    path : Path
        The file.
    search : BranchAndBound
        The search, whose boxes and shares are replaced.
    about : str
        The :func:`fingerprint` of the network and the domain.

    Returns
    -------
    tuple of float and list of Moment
        The seconds that the search had run, and its moments.

    Raises
    ------
    ResultError
        If the file cannot be read, is no checkpoint, or is one of another network, domain or
        version of testsgd.
    """
    try:
        arrays = read_arrays(path)
        notes = loads_json(str(arrays["notes"]))
        if (notes["version"], notes["about"]) == (_VERSION, about):
            if str(arrays.pop("digest")) != _digest_of(arrays):
                raise LookupError("the digest is of other contents")
            arrays.pop("notes")
            _restore(search, arrays, notes)
            moments = [
                Moment(item["seconds"], item["boxes"], Shares(**item["shares"]))
                for item in notes["moments"]
            ]
            return float(notes["seconds"]), moments
    except OSError as error:
        raise ResultError(
            f"the checkpoint cannot be read ({error.strerror or error})",
            where=str(path),
            remedy="name another file",
        ) from error
    except (*DAMAGED_ARCHIVE, LookupError, TypeError, AttributeError) as error:
        # What numpy says of files of other kinds is about pickled objects, and helps nobody.
        is_own = kind_of_file(path) == CHECKPOINT
        raise ResultError(
            "the checkpoint is damaged" if is_own else "the file is no checkpoint that is whole",
            where=str(path),
            remedy=f"name another file{', or delete it to start again' if is_own else ''}",
        ) from error
    raise ResultError(
        "the checkpoint is of another network, domain or version of testsgd",
        where=str(path),
        remedy="name another file, or delete it to start again",
    )


def _restore(search: BranchAndBound, arrays: dict[str, Any], notes: dict[str, Any]) -> None:
    width = search.prover.known_units
    if arrays["known"].shape[1] != width:
        # Written with machine code and read without, or the other way: nothing is known.
        arrays["known"] = np.zeros((len(arrays["share"]), width), dtype=np.int8)
    search.boxes = OpenBoxes.from_arrays(arrays)
    search.tree = SplitTree.from_arrays(arrays)
    search.fair = float(notes["fair"])
    search.unfair = float(notes["unfair"])
    search.looks = int(notes["looks"])
    search.examples = [(np.array(lo), np.array(hi)) for lo, hi in notes["examples"]]
