"""What a shield is made from: its specification, its distribution, logged people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from testsgd.errors import DataError, ParameterError
from testsgd.reporting.shielding.phrases import bytes_text
from testsgd.shielding import (
    Events,
    InputDistribution,
    ShieldProblem,
    ShieldSpecification,
    Storage,
    period_problem,
    predicted_bytes,
    read_log,
)

SpecificationLike: TypeAlias = ShieldSpecification | Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class ShieldPlan:
    """What is going to be synthesised.

    Attributes
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
    problem : ShieldProblem
        Of the (first) period.
    storage : {"auto", "whole", "windows"}
    predicted_bytes : int
        The most memory that it needs.
    """

    specification: ShieldSpecification
    inputs: InputDistribution
    problem: ShieldProblem
    storage: Storage
    predicted_bytes: int


def shield_specification(given: SpecificationLike, **changes: Any) -> ShieldSpecification:
    """Read a specification from whatever has it.

    Parameters
    ----------
    given : ShieldSpecification, mapping, str or path-like
        An object, its keys, or the TOML file that has them.
    **changes
        Keys to change.

    Returns
    -------
    ShieldSpecification

    Raises
    ------
    SpecificationError
        If it specifies no shield.
    ParameterError
        If there is no such key to change.
    """
    if isinstance(given, ShieldSpecification):
        found = given
    elif isinstance(given, Mapping):
        found = ShieldSpecification.from_dict(given)
    else:
        found = ShieldSpecification.read(given)
    return found.with_changes(**changes) if changes else found


def plan_shield(
    given: SpecificationLike, *, storage: Storage = "auto", **changes: Any
) -> ShieldPlan:
    """Lay out a synthesis, and predict what it needs.

    Parameters
    ----------
    given, **changes
        As for :func:`shield_specification`.
    storage : {"auto", "whole", "windows"}

    Returns
    -------
    ShieldPlan

    Raises
    ------
    TestSGDError
        If the specification, or the log that it names, is wrong.
    """
    if storage not in ("auto", "whole", "windows"):
        raise ParameterError(
            f"{storage!r} is unknown", where="storage", remedy="choose auto, whole or windows"
        )
    specification = shield_specification(given, **changes)
    inputs = specification.input_distribution()
    problem = period_problem(specification, inputs)
    needed = predicted_bytes(problem, storage=storage)
    return ShieldPlan(specification, inputs, problem, storage, needed)


def check_memory(plan: ShieldPlan, limit: int | None) -> None:
    """Raise a :class:`ParameterError` if a synthesis would need more memory than it may."""
    if limit is None or plan.predicted_bytes <= limit:
        return
    remedy = "allow more, or take a shorter horizon, fewer groups or fewer costs"
    if plan.storage == "whole":
        remedy += ', or the storage "windows"'
    raise ParameterError(
        f"the synthesis would need about {bytes_text(plan.predicted_bytes)} of memory, and "
        f"{bytes_text(limit)} are allowed",
        where="memory limit",
        remedy=remedy,
        predicted=plan.predicted_bytes,
        limit=limit,
    )


def logged_events(
    path: str | Path, specification: ShieldSpecification, inputs: InputDistribution
) -> Events:
    """Read people to simulate from a log.

    Parameters
    ----------
    path : path-like
        A CSV file; its columns are called as the specification says.
    specification : ShieldSpecification
        Of the shield.
    inputs : InputDistribution
        What the shield expects.

    Returns
    -------
    Events
        Where the property goes by labels, rows without one are left out; elsewhere labels are kept
        if every row has one.

    Raises
    ------
    DataError
        If the file does not fit the specification.
    """
    columns = specification.inputs.columns
    log = read_log(
        path,
        specification.groups.names,
        columns={} if columns is None else columns.model_dump(exclude_none=True),
        unknown=specification.groups.unknown,
    )
    places = {name: place for place, name in enumerate(inputs.groups)}
    groups = np.array([places[name] for name in log.groups], dtype=np.int64)
    if log.costs is not None:
        costs = np.asarray(log.costs, dtype=np.float64)
    elif len(inputs.costs) == 1:
        costs = np.full(len(groups), inputs.costs[0])
    else:
        raise DataError(
            f"the log has no costs, and the shield knows {len(inputs.costs)} of them",
            where=log.where,
            remedy="add a column with what changing each recommendation costs",
        )
    recommendations = np.asarray(log.recommendations, dtype=np.int64)
    if log.labels is None:
        return Events(groups, recommendations, costs)
    known = ~np.isnan(log.labels)
    if not specification.fairness_property.labelled and not known.all():
        return Events(groups, recommendations, costs)
    labels = log.labels[known].astype(np.int64)
    return Events(groups[known], recommendations[known], costs[known], labels)
