"""The specification of a shield: what a user writes in TOML, checked and read exactly."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from testsgd.data.schema_parts import AtLeastOne, ExactShare, NotNegative, Part, mistake
from testsgd.data.toml_document import ExactDocument
from testsgd.errors import ExpressionError, ParameterError, SpecificationError
from testsgd.fairness import FairnessProperty, Measure
from testsgd.fairness.conditioned_groups import (
    NO_GROUP,
    ConditionedGroup,
    checked_groups,
    fields_of_groups,
    listed_groups,
    with_names_of,
)
from testsgd.fairness.property import FairnessPart, GroupNames
from testsgd.report.formatting import plural
from testsgd.shielding.inputs import InputDistribution, InputLog, TableRow, checked_costs, read_log
from testsgd.shielding.requirement import BiasAtMost, least_counted

ShieldKind = Literal["finite", "static-fair", "static-bounded-welfare", "dynamic"]
# Keys of a horizon that one kind of shield has, and keys of the inputs that exclude each other or
# belong to a log.
_OF_ONE_KIND = {"welfare": "static-bounded-welfare", "when_infeasible": "dynamic"}
_SOURCES = ("costs", "table", "log")
# What an event of a shield says itself.
_KEYS_OF_EVENTS = ("group", "recommendation", "cost", "label", "decision", "id")
_OF_A_LOG = ("smoothing", "most_costs", "columns")


class GroupsPart(Part):
    """Who is compared."""

    names: GroupNames = Field(description="the groups, at least two")
    by: tuple[ConditionedGroup, ...] | None = Field(
        None, description="groups by expressions; a person is in the first that holds"
    )
    unknown: Literal["refuse", "pass"] = Field(
        "refuse", description="people of no such group: an error, or passed through and counted"
    )

    @model_validator(mode="before")
    @classmethod
    def _conditions_name_the_groups(cls, given: Any) -> Any:
        return with_names_of(given)

    @field_validator("by")
    @classmethod
    def _own_fields(
        cls, by: tuple[ConditionedGroup, ...] | None
    ) -> tuple[ConditionedGroup, ...] | None:
        for index, group in enumerate(by or ()):
            reserved = [name for name in group.condition.names if name in _KEYS_OF_EVENTS]
            if reserved:
                what = f"{reserved[0]!r} is what an event says of a decision, and not of a person"
                raise mistake((index, "when"), what, "rename the field of the person")
        return checked_groups(by)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a person that expressions are about; none if groups have names only."""
        return fields_of_groups(self.by or ())


class HorizonPart(Part):
    """When the bound must hold, and what comes after."""

    length: AtLeastOne = Field(description="decisions after which the bound must hold")
    shield: ShieldKind = Field("finite", description="one horizon, or a way to do many periods")
    welfare: tuple[ExactShare, ExactShare] | None = Field(
        None, description="lowest and highest rate of a group (static-bounded-welfare)"
    )
    after: Literal["stop", "next"] | None = Field(
        None, description="beyond the horizon: an error, or the next period, from nothing"
    )
    periods: AtLeastOne | None = Field(None, description="stop after so many periods")
    when_infeasible: Literal["pass", "closest"] | None = Field(
        None,
        description="dynamic, no shield for a period: pass, or keep the smallest bound there is",
    )

    @model_validator(mode="after")
    def _parts_agree(self) -> HorizonPart:
        welfare = self.welfare
        if self.shield == "static-bounded-welfare" and welfare is None:
            what = "a static-bounded-welfare shield needs bounds"
            raise mistake("welfare", what, "give [lowest, highest]")
        for key, kind in _OF_ONE_KIND.items():
            if getattr(self, key) is not None and self.shield != kind:
                raise mistake(key, f"only a {kind} shield has it", "remove it")
        if welfare is not None and welfare[0] >= welfare[1]:
            raise mistake("welfare", f"no room is left between {welfare[0]} and {welfare[1]}")
        if self.periodic and self.after == "stop":
            what = f"a {self.shield} shield always goes on"
            raise mistake("after", what, "set `periods` to end it")
        if self.when_infeasible == "pass":
            # It is the same as to leave it out, and so has the same digest.
            object.__setattr__(self, "when_infeasible", None)
        if self.after is None:
            # Filled in so that readers need no rule of their own; it stays a key not set.
            object.__setattr__(self, "after", "next" if self.periodic else "stop")
        if self.after == "stop" and self.periods not in (None, 1):
            what = f'{self.periods} periods and after = "stop" exclude each other'
            raise mistake("periods", what, 'set after = "next", or leave `periods` out')
        return self

    @property
    def closest(self) -> bool:
        """Whether a period without a shield gets one of the smallest bound that can be kept."""
        return self.when_infeasible == "closest"

    @property
    def periodic(self) -> bool:
        """Whether the bound is on the whole history at the end of every period."""
        return self.shield != "finite"


class LogColumns(Part):
    """What the columns of a log are called."""

    group: str = Field("group", description="the group")
    recommendation: str = Field("recommendation", description="0 or 1, or reject or accept")
    cost: str | None = Field(None, description='its column; "cost" is read if it is there')
    label: str | None = Field(None, description='its column; "label" is read if it is there')


class InputsPart(Part):
    """What the shield expects to see; without it, everything equally often."""

    costs: tuple[NotNegative, ...] | None = Field(
        None, description="what a change can cost, if all are equally likely"
    )
    table: tuple[TableRow, ...] | None = Field(None, description="the probabilities, row by row")
    log: str | None = Field(None, description="a CSV file to estimate the probabilities from")
    smoothing: NotNegative | None = Field(
        None, description="people added to each group and recommendation of the log; 1"
    )
    most_costs: AtLeastOne | None = Field(
        None, description="more different costs in the log are put together; 8"
    )
    columns: LogColumns | None = Field(None, description="names of the log's columns")

    @field_validator("costs")
    @classmethod
    def _good_costs(cls, costs: tuple[float, ...] | None) -> tuple[float, ...] | None:
        try:
            return None if costs is None else checked_costs(sorted(costs))
        except SpecificationError as error:
            raise mistake((), error.what, error.remedy) from error

    @model_validator(mode="after")
    def _one_source(self) -> InputsPart:
        sources = [key for key in _SOURCES if getattr(self, key) is not None]
        if len(sources) > 1:
            what = f"`{sources[0]}` says already what is expected"
            raise mistake(sources[1], what, "give one of them")
        for key in _OF_A_LOG:
            if self.log is None and getattr(self, key) is not None:
                raise mistake(key, "only a `log` has it", "remove it")
        return self


def bounded_bias(welfare: tuple[Fraction, Fraction], measure: Measure) -> Fraction:
    """Return the largest bias of groups whose rates all lie between a lowest and a highest one."""
    low, high = welfare
    return 1 - low / high if measure == "ratio" else high - low


_TABLES: tuple[type[Part], ...] = (FairnessPart, GroupsPart, HorizonPart, InputsPart)
_PARTS = dict(zip(("fairness", "groups", "horizon", "inputs"), _TABLES, strict=True))
# The path of each key, by itself and by its name alone.
_NAMES = {f"{part}.{key}": key for part, kind in _PARTS.items() for key in kind.model_fields}
_PATHS = {name: name for name in ("name", *_PARTS, *_NAMES)}
_PATHS |= {key: path for path, key in _NAMES.items()}


def changed(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a specification with other values, by a key's name or path.

    The value None removes a key.
    """
    copy = {
        key: dict(value) if isinstance(value, dict) else value for key, value in document.items()
    }
    for path, value in _with_removals(copy, changes).items():
        part, _, key = path.rpartition(".")
        table = copy.setdefault(part, {}) if part else copy
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
    return copy


def _with_removals(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes by path, and None for the keys that only the former choice may have."""
    new = dict[str, Any]()
    removed = list[str]()
    for key, value in changes.items():
        if key not in _PATHS:
            similar = difflib.get_close_matches(key, _PATHS, n=1)
            remedy = (
                f"did you mean {similar[0]!r}?" if similar else "give a key of the specification"
            )
            raise ParameterError(
                f"there is no key {key!r}", where="changes", remedy=remedy, key=key
            )
        new[_PATHS[key]] = value
    kind = new.get("horizon.shield")
    if kind is not None and kind != document.get("horizon", {}).get("shield", "finite"):
        removed += [f"horizon.{key}" for key, owner in _OF_ONE_KIND.items() if kind != owner]
        removed.append("horizon.after")
    if new.get("fairness.property") not in (None, "custom"):
        removed += ["fairness.numerator", "fairness.denominator", "fairness.measure"]
    if new.get("fairness.property") not in (None, "share_of_accepted"):
        removed.append("fairness.shares")
    sources = [key for key in _SOURCES if new.get(f"inputs.{key}") is not None]
    if sources:
        others = [key for key in _SOURCES if key not in sources]
        removed += [f"inputs.{key}" for key in others]
        if "log" in others:
            removed += [f"inputs.{key}" for key in _OF_A_LOG]
    return {**dict.fromkeys(removed), **new}


class ShieldSpecification(ExactDocument):
    """What a shield must guarantee, to whom, when, and what it expects to see.

    Attributes
    ----------
    name : str
    fairness, groups, horizon, inputs
        The tables of the TOML file.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "fairness": {"property": "demographic_parity", "bound": 0.1},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 100}})
    >>> specification.bound, specification.horizon.after
    (Fraction(1, 10), 'stop')
    """

    purpose: ClassVar[str] = "specifies a shield"
    lists_for_tables: ClassVar[Mapping[str, str]] = {"groups": "by"}

    name: str = Field("shield", min_length=1, description="what reports call it")
    fairness: FairnessPart = Field(description="the bound")
    groups: Annotated[GroupsPart, BeforeValidator(listed_groups)] = Field(
        description="who is compared"
    )
    horizon: HorizonPart = Field(description="when the bound must hold")
    inputs: InputsPart = Field(InputsPart(), description="what is expected")
    # Where the specification was read; the log's path is relative to it.
    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _parts_agree(self) -> ShieldSpecification:
        self._check_shares()
        columns = self.inputs.columns
        # A saved shield has all keys, also those that were left out.
        if self.groups.by is not None and columns and columns.group != LogColumns().group:
            what = "groups by expressions are read from the fields of the expressions"
            raise mistake(("inputs", "columns", "group"), what, "remove it")
        welfare = self.horizon.welfare
        measure = self.fairness_property.measure
        if welfare is not None and (widest := bounded_bias(welfare, measure)) > self.bound:
            ends = f"rates between {welfare[0]} and {welfare[1]} allow a bias of {widest}"
            what = f"{ends}, more than the bound, {self.bound}"
            raise mistake(("horizon", "welfare"), what, "narrow the bounds")
        self._check_equal_shares()
        self._check_enough_people()
        if self.inputs.table is not None:
            self._check_table()
        return self

    def _check_equal_shares(self) -> None:
        """Raise the mistake of a period that no equal shares of its decisions add up to."""
        length, groups = self.horizon.length, len(self.groups.names)
        fairness = self.fairness_property
        # Where a decision may count several times, or labels say who is counted, denominators can
        # be equal at any length.
        once = all(whole == 1 for row in fairness.denominator for whole in row)
        if self.horizon.shield == "static-fair" and once and length % groups:
            what = (
                f"a static-fair shield promises something where all {groups} groups come equally "
                f"often, which they never do in {length} decisions"
            )
            remedy = f"give a multiple of {groups}, such as {length + groups - length % groups}"
            raise mistake(("horizon", "length"), what, remedy)

    def _check_enough_people(self) -> None:
        """Raise the mistake of a period in which not enough people of every group can come."""
        length, groups = self.horizon.length, len(self.groups.names)
        welfare = self.horizon.welfare
        if welfare is None:
            return
        least = least_counted(welfare)
        # What one decision adds to a denominator at most, whatever is decided and its label.
        most_added = max(whole for row in self.fairness_property.denominator for whole in row)
        needed = groups * -(-least // most_added)
        if length >= needed:
            return
        what = (
            f"a static-bounded-welfare shield promises something where each of {groups} groups is "
            f"counted at least {least} times, which never happens in {plural(length, 'decision')}"
        )
        remedy = f"give at least {needed}"
        most_counted = most_added * (length // groups)
        if most_counted and Fraction(1, most_counted) <= self.bound:
            remedy += f", or welfare bounds at least {Fraction(1, most_counted)} apart"
        raise mistake(("horizon", "length"), what, remedy)

    def _check_shares(self) -> None:
        """Raise the mistake of shares of unknown groups, or over periods."""
        shares = self.fairness.shares
        if shares is None:
            return
        for group in shares:
            if group not in self.groups.names:
                what = f"there is no group {group!r}"
                remedy = f"give shares of {', '.join(map(repr, self.groups.names))}"
                raise mistake(("fairness", "shares"), what, remedy)
        if not self._allows_a_first():
            # After a first person of one group all others could be of that group, too.
            what = "no person could be accepted, for all who come could be of one group"
            remedy = (
                "let one group have shares up to 1 and the others from 0, as { women = [0.4, 1] }"
            )
            raise mistake(("fairness", "shares"), what, remedy)
        if self.horizon.periodic:
            what = (
                f"a {self.horizon.shield} shield is for rates within groups, not for shares of all"
            )
            remedy = 'use shield = "finite", perhaps with after = "next"'
            raise mistake(("horizon", "shield"), what, remedy)

    def _allows_a_first(self) -> bool:
        """Return whether some group may be the only one of which people are accepted."""
        ranges = self.fairness_property.shares
        least = [low - self.bound for low, _ in ranges]
        most = [high + self.bound for _, high in ranges]
        return any(
            most[group] >= 1 and max([*least[:group], *least[group + 1 :]]) <= 0
            for group in range(len(ranges))
        )

    def _check_table(self) -> None:
        """Raise the mistake of a table of inputs at the row that has it."""
        try:
            inputs = self.input_distribution()
        except SpecificationError as error:
            index = error.where.removeprefix("inputs.table.")
            row = (int(index),) if index.isdigit() else ()
            raise mistake(("inputs", "table", *row), error.what, error.remedy) from error
        if self.fairness_property.labelled and inputs.labels is None:
            what = (
                f"{self.fairness.property} depends on labels, but no row says how likely they are"
            )
            raise mistake(("inputs", "table"), what, "add `label_probability`")

    @property
    def fairness_property(self) -> FairnessProperty:
        """The fairness property: what is counted, and how rates are compared."""
        return self.fairness.made(self.groups.names)

    @property
    def bound(self) -> Fraction:
        """The largest bias, exactly."""
        return self.fairness.bound

    @property
    def requirement(self) -> BiasAtMost:
        """The requirement that the bias is at most the bound."""
        return BiasAtMost(
            bound=self.bound,
            measure=self.fairness_property.measure,
            empty_group=self.fairness.empty_group,
            shares=self.fairness_property.shares,
        )

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the specification of a TOML file; the path of a log is relative to its folder.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        ShieldSpecification

        Raises
        ------
        SpecificationError
            If the file cannot be read, or a key or value is wrong; names the key and the line.
        """
        return super().read(path).in_folder_of(path)

    def in_folder_of(self, other: ShieldSpecification | Mapping[str, Any] | Path | str) -> Self:
        """Return itself, with the path of a log relative to the folder of another one or of a file.

        Parameters
        ----------
        other : ShieldSpecification, mapping, str or path-like
            The other specification, or the path of the file; a mapping has no folder.

        Returns
        -------
        ShieldSpecification
        """
        if isinstance(other, ShieldSpecification):
            self._folder = other._folder
        elif not isinstance(other, Mapping):
            self._folder = Path(other).parent
        return self

    def input_distribution(self, folder: Path | None = None) -> InputDistribution:
        """Return the probabilities: of the table, of the log, or everything equally often.

        Parameters
        ----------
        folder : pathlib.Path, optional
            The path of a log is relative to it; if not given, to the folder of the specification's
            file, or else to the working directory.

        Returns
        -------
        InputDistribution

        Raises
        ------
        SpecificationError
            If the table is wrong, or the property counts by labels and the log has none.
        DataError
            If the log cannot be read, or does not fit the groups.
        """
        names = self.groups.names
        inputs = self.inputs
        labelled = self.fairness_property.labelled
        if inputs.table is not None:
            return InputDistribution.from_table(names, inputs.table)
        if inputs.log is None:
            costs = (1.0,) if inputs.costs is None else inputs.costs
            return InputDistribution.uniform(names, costs=costs, labelled=labelled)
        log = self.read_log((folder or self._folder or Path()) / inputs.log)
        if labelled and log.labels is None:
            what = f"{self.fairness.property} depends on labels, but the log has none"
            remedy = "name the column in inputs.columns.label"
            raise SpecificationError(what, where=log.where, remedy=remedy)
        return InputDistribution.from_log(
            log.groups,
            log.recommendations,
            costs=log.costs,
            labels=log.labels,
            known_groups=names,
            smoothing=1.0 if inputs.smoothing is None else inputs.smoothing,
            most_costs=8 if inputs.most_costs is None else inputs.most_costs,
        )

    def read_log(self, path: Path | str) -> InputLog:
        """Return a log of these groups, with the columns that the specification names.

        Parameters
        ----------
        path : path-like
            A CSV file with a header.

        Returns
        -------
        InputLog

        Raises
        ------
        DataError
            If the file cannot be read, a column is missing, or a value is wrong.
        """
        columns = self.inputs.columns
        names = {} if columns is None else columns.model_dump(exclude_none=True)
        return read_log(
            path,
            self.groups.names,
            columns=names,
            unknown=self.groups.unknown,
            by=self.groups.by,
        )

    def group_of(self, person: Mapping[str, Any]) -> str:
        """Return the group of a person, where groups are by expressions.

        Parameters
        ----------
        person : mapping of str to value
            The fields that the expressions are about; None for what is not known.

        Returns
        -------
        str
            The first group whose expression holds, or ``"(no group)"``.

        Raises
        ------
        ParameterError
            If the groups have names only, a field is not there or infinite, or a text is compared
            by size.

        Examples
        --------
        >>> specification = ShieldSpecification.from_dict({
        ...     "fairness": {"property": "demographic_parity", "bound": 0.1},
        ...     "groups": [{"name": "young", "when": "age < 25"},
        ...                {"name": "others", "when": "age >= 25"}],
        ...     "horizon": {"length": 100}})
        >>> specification.group_of({"age": 20}), specification.group_of({"age": None})
        ('young', '(no group)')
        """
        if self.groups.by is None:
            raise ParameterError(
                "the groups of this shield are known by their names only",
                where="group",
                remedy=f"give one of {', '.join(map(repr, self.groups.names))}",
            )
        for name in self.groups.fields:
            if name not in person:
                raise ParameterError(
                    f"the person has no field {name!r}",
                    where="group",
                    remedy=f"give {', '.join(self.groups.fields)}; null for what is not known",
                    name=name,
                )
            value = person[name]
            # JSON has numbers that are larger than any that counts.
            if isinstance(value, float) and math.isinf(value):
                raise ParameterError(
                    f"the person's {name!r} is infinite", where=name, remedy="give a finite number"
                )
        try:
            holding = (group.name for group in self.groups.by if group.condition.holds(person))
            return next(holding, NO_GROUP)
        except ExpressionError as error:
            raise ParameterError(
                error.what, where=error.where, remedy=error.remedy, **error.details
            ) from error

    def with_changes(self, **changes: Any) -> ShieldSpecification:
        """Return a copy with other values.

        Parameters
        ----------
        **changes
            New values by key (``bound=0.2``) or path (``**{"horizon.length": 50}``). None removes a
            key. A new kind of shield, property or source of inputs removes the keys that only
            another one may have.

        Returns
        -------
        ShieldSpecification

        Raises
        ------
        ParameterError
            If there is no such key.
        SpecificationError
            If a value is wrong.

        Examples
        --------
        >>> specification = ShieldSpecification.from_dict({
        ...     "fairness": {"property": "demographic_parity", "bound": 0.1},
        ...     "groups": {"names": ["female", "male"]}, "horizon": {"length": 100}})
        >>> specification.with_changes(bound="1/3", length=9).bound
        Fraction(1, 3)
        """
        document = self.model_dump(exclude_unset=True)
        return type(self).from_dict(changed(document, changes), where="changes").in_folder_of(self)

    def digest(self, inputs: InputDistribution) -> str:
        """Return a sha256 of the specification together with the probabilities of its inputs.

        Parameters
        ----------
        inputs : InputDistribution
            What :meth:`input_distribution` returned.

        Returns
        -------
        str
            64 hexadecimal digits. A saved shield and a journal are compared by it.
        """
        document = {**self.to_dict(), "inputs": inputs.to_dict()}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
