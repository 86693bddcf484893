"""The specification of a shield: what a user writes in TOML, checked and read exactly."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field, PrivateAttr, model_validator

from testsgd.data.exact_document import ExactDocument
from testsgd.data.schema_parts import mistake
from testsgd.errors import SpecificationError
from testsgd.fairness import FairnessPart, FairnessProperty
from testsgd.shielding.inputs import InputDistribution, read_log
from testsgd.shielding.specification.changes import changed
from testsgd.shielding.specification.parts import (
    GroupsPart,
    HorizonPart,
    InputsPart,
    bounded_bias,
)


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
    ...     "fairness": {"property": "demographic_parity", "threshold": 0.1},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 100}})
    >>> specification.threshold, specification.horizon.after
    (Fraction(1, 10), 'stop')
    """

    purpose: ClassVar[str] = "specifies a shield"

    name: str = Field("shield", min_length=1, description="what reports call it")
    fairness: FairnessPart = Field(description="the bound")
    groups: GroupsPart = Field(description="who is compared")
    horizon: HorizonPart = Field(description="when the bound must hold")
    inputs: InputsPart = Field(InputsPart(), description="what is expected")
    # Where the specification was read; the log's path is relative to it.
    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _parts_agree(self) -> ShieldSpecification:
        welfare = self.horizon.welfare
        measure = self.fairness_property.measure
        if welfare is not None and (widest := bounded_bias(welfare, measure)) > self.threshold:
            raise mistake(
                ("horizon", "welfare"),
                f"rates between {welfare[0]} and {welfare[1]} allow a bias of {widest}, more than "
                f"the threshold, {self.threshold}",
                "narrow the bounds",
            )
        if self.inputs.table is not None:
            self._check_table()
        return self

    def _check_table(self) -> None:
        try:
            inputs = self._resolved(None)
        except SpecificationError as error:
            place = error.where.removeprefix("inputs.table.")
            row = (int(place),) if place.isdigit() else ()
            raise mistake(("inputs", "table", *row), error.what, error.remedy) from error
        self._check_labels(inputs, ("inputs", "table"))

    def _check_labels(self, inputs: InputDistribution, key: tuple[str, ...]) -> None:
        if self.fairness_property.labelled and inputs.labels is None:
            raise mistake(
                key,
                f"{self.fairness.property} depends on labels, but no row says how likely they are",
                "add `label_probability`",
            )

    @property
    def fairness_property(self) -> FairnessProperty:
        """What is counted, and how rates are compared."""
        return self.fairness.made()

    @property
    def threshold(self) -> Fraction:
        """The largest bias, exactly."""
        return self.fairness.threshold

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a specification from a TOML file.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        ShieldSpecification
            It remembers the file's folder, to which the path of a log is relative.

        Raises
        ------
        SpecificationError
            If the file is missing, is no TOML or specifies no shield; names the key and the line.
        """
        made = super().read(path)
        made._folder = Path(path).parent
        return made

    def input_distribution(self, folder: Path | None = None) -> InputDistribution:
        """Give the probabilities: of the table, of the log, or everything equally often.

        Parameters
        ----------
        folder : pathlib.Path, optional
            What the log's path is relative to, if not to the file that the specification is from.

        Returns
        -------
        InputDistribution

        Raises
        ------
        DataError
            If the log is missing, or does not fit the groups.
        SpecificationError
            If the property depends on labels and there are none.
        """
        return self._resolved(folder)

    def _resolved(self, folder: Path | None) -> InputDistribution:
        names, given = self.groups.names, self.inputs
        labelled = self.fairness_property.labelled
        if given.table is not None:
            rows = [row.model_dump() for row in given.table]
            return InputDistribution.from_table(names, rows)
        if given.log is None:
            return InputDistribution.uniform(
                names, costs=(1.0,) if given.costs is None else given.costs, labelled=labelled
            )
        log = read_log(
            (folder or self._folder or Path()) / given.log,
            names,
            columns={} if given.columns is None else given.columns.model_dump(exclude_none=True),
            unknown=self.groups.unknown,
        )
        if labelled and log.labels is None:
            raise SpecificationError(
                f"{self.fairness.property} depends on labels, but the log has none",
                where=log.where,
                remedy="name the column in inputs.columns.label",
            )
        return InputDistribution.from_log(
            log.groups,
            log.recommendations,
            costs=log.costs,
            labels=log.labels,
            known_groups=names,
            smoothing=1.0 if given.smoothing is None else given.smoothing,
            most_costs=8 if given.most_costs is None else given.most_costs,
        )

    def with_changes(self, **changes: Any) -> ShieldSpecification:
        """Give a copy with other values.

        Parameters
        ----------
        **changes
            By the key's name (``threshold=0.2``) or its whole path
            (``**{"horizon.length": 50}``); None takes a key away. What only another kind of shield
            has is taken away with the kind.

        Returns
        -------
        ShieldSpecification

        Raises
        ------
        ParameterError
            If there is no such key.
        SpecificationError
            If the values are no good.

        Examples
        --------
        >>> specification = ShieldSpecification.from_dict({
        ...     "fairness": {"property": "demographic_parity", "threshold": 0.1},
        ...     "groups": {"names": ["female", "male"]}, "horizon": {"length": 100}})
        >>> specification.with_changes(threshold="1/3", length=9).threshold
        Fraction(1, 3)
        """
        document = self.model_dump(exclude_unset=True)
        made = type(self).from_dict(changed(document, changes), where="changes")
        made._folder = self._folder
        return made

    def digest(self, inputs: InputDistribution) -> str:
        """Give a fingerprint of the specification with the probabilities that were resolved.

        Parameters
        ----------
        inputs : InputDistribution
            Those of :meth:`input_distribution`. Where they came from plays no part.

        Returns
        -------
        str
            A sha256 in hexadecimal.
        """
        document = {**self.to_dict(), "inputs": inputs.to_dict()}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
