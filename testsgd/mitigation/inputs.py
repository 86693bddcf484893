"""What a mitigation is given: rows or texts with labels, a model, and the audit of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._version import __version__
from testsgd.auditing import (
    AuditParameters,
    AuditResult,
    AuditSummary,
    Findings,
    Progress,
    run_audit,
)
from testsgd.auditing.inputs import (
    audit_parameters,
    check_repeatable,
    check_same_audit,
    check_same_data,
    check_same_model,
    find_model_and_table,
    read_audit,
    saved_parameters,
)
from testsgd.auditing.text import run_text_audit, text_clusters
from testsgd.data import (
    SensitiveTerms,
    Specification,
    Table,
    Texts,
    TextSpecification,
    check_count,
    check_no_terms,
    find_texts,
    resolve_specification,
    resolve_terms,
    table_fingerprint,
    texts_fingerprint,
)
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.data_splits import (
    DataSplit,
    Material,
    comparison_parameters,
    finding_parameters,
)
from testsgd.mitigation.parameters import LEAST_HELD_OUT, MitigationParameters
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.mitigation.targets import Target, choose_targets
from testsgd.mitigation.text_splits import TextMaterial, chosen_terms
from testsgd.models import (
    Examples,
    LoadedModel,
    Split,
    binary_labels,
    load_text_model,
    split_examples,
)
from testsgd.rules import Mentions, RuleSet, find_mentions
from testsgd.scoring import Clusters


class MitigationInputs(ABC):
    """What a mitigation is given, checked."""

    # What the data consist of.
    one = "row"

    def __init__(
        self,
        data: Table | Texts,
        loaded: LoadedModel[Any],
        summary: AuditSummary | None,
        settings: MitigationParameters,
        audit_settings: AuditParameters,
    ) -> None:
        self.data = data
        self.specification: Specification = data.specification
        self.loaded = loaded
        self.summary = summary
        self.settings = settings
        self.audit_settings = comparison_parameters(audit_settings)
        self.finding_settings = finding_parameters(audit_settings)
        if summary is not None:
            check_same_data(summary, self.audited_fingerprint())
            check_same_model(summary, name=loaded.model.name, file_sha256=loaded.file_sha256)

    @abstractmethod
    def fingerprint(self) -> str:
        """Return the sha256 of all the data, as a model card names it."""

    @abstractmethod
    def audited_fingerprint(self) -> str:
        """Return the sha256 of what is audited, as an audit names it."""

    @cached_property
    def labels(self) -> NDArray[np.bool_]:
        """Which of the data have the favourable label."""
        known = self.data.labels
        labels = binary_labels(
            None if known is None else np.asarray(known, dtype=object),
            self.specification.label,
            one=self.one,
            source=self._source,
        )
        return labels.astype(bool)

    @property
    def _source(self) -> str:
        """What to call the data in a message."""
        return self.data.source or "the data"

    @abstractmethod
    def examples(self, places: NDArray[np.intp]) -> Examples:
        """Return some of the data with their labels."""

    def training(self, split: DataSplit) -> Examples:
        """Return what a model is trained on."""
        return self.examples(split.parts.train)

    @abstractmethod
    def material(self, targets: tuple[Target, ...], split: DataSplit) -> Material:
        """Put the data together with the targets."""

    @abstractmethod
    def _audit(self, places: NDArray[np.intp] | None, progress: Progress | None) -> Findings:
        """Audit the model to find groups, on some of the data or, None, on all that are audited."""

    @abstractmethod
    def _sides(self, rule_set: RuleSet, places: NDArray[np.intp]) -> tuple[int, int]:
        """Count how many of some data are in a group, and how many outside."""

    def _split(self, seed: int, **options: Any) -> Split:
        """Split the data as a training with this seed does."""
        return split_examples(
            self.labels.astype(np.float32),
            seed,
            one=self.one,
            source=self._source,
            clusters=self.data.clusters,
            **options,
        )

    @property
    @abstractmethod
    def _clusters(self) -> Clusters | None:
        """Which of the data are one unit, None if each is."""

    def find(self, split: DataSplit, progress: Progress | None = None) -> Findings:
        """Audit the model to find groups, on all data but those held out.

        An audit that was saved is made again, on all data, and checked to be the same.
        """
        if self.summary is None:
            return self._audit(np.sort(split.parts.seen), progress)
        findings = self._audit(None, progress)
        check_same_audit(self.summary, findings)
        return findings

    def targets(self, findings: Findings, split: DataSplit) -> tuple[Target, ...]:
        """Choose the groups that the user asked for."""

        def enough(rule_set: RuleSet) -> bool:
            return min(self._sides(rule_set, split.parts.test)) >= LEAST_HELD_OUT

        return choose_targets(findings, self.settings, enough=enough)

    def split(self) -> DataSplit:
        """Split the data as the model's own training did, if its card says how."""
        card = self.loaded.card
        seed = card.get("seed")
        if isinstance(seed, int) and card.get("data fingerprint") == self.fingerprint():
            parts, repeats = self._independent(self._split(seed))
            return DataSplit(
                parts,
                f"as in the training of the original, by its model card (seed {seed})",
                unseen=self.summary is None,
                repeats=repeats,
            )
        parts, repeats = self._independent(self._split(self.settings.seed))
        return DataSplit(
            parts,
            f"drawn with seed {self.settings.seed}",
            repeats=repeats,
            warning=f"Which {self.one}s the original model was trained on is not known. If the "
            f"held-out {self.one}s were among them, its accuracy there would flatter it; so a "
            "model that is fitted anew is compared with the original fitted to the training "
            f"{self.one}s alone.",
            known=False,
            unseen=self.summary is None,
        )

    def _independent(self, parts: Split) -> tuple[Split, int]:
        """Leave out held-out rows or texts that repeat one another or the others; count them.

        What a model has learnt from says nothing new, and what is there twice is known once: so
        the intervals of everything that is measured on the rest may take them for independent.
        """
        if self._clusters is None:
            return parts, 0
        unit = self._clusters.of_row
        fresh = parts.test[~np.isin(unit[parts.test], unit[parts.seen])]
        test = np.sort(fresh[np.unique(unit[fresh], return_index=True)[1]])
        if not len(test):
            raise DataError(
                f"each held-out {self.one} belongs to a unit that is trained on",
                where=self._source,
                remedy=f"give {self.one}s of more units",
            )
        return replace(parts, test=test), len(parts.test) - len(test)

    def about(self, findings: Findings, targets: tuple[Target, ...]) -> dict[str, Any]:
        """Describe the work, for the journal."""
        return {
            "version": __version__,
            "settings": asdict(self.settings),
            "audit": {
                name: value for name, value in asdict(findings.parameters).items() if name != "jobs"
            },
            "data": self.fingerprint(),
            "model": [findings.model_fingerprint, self.loaded.file_sha256],
            "targets": [target.rule_set.text for target in targets],
        }


class RowInputs(MitigationInputs):
    """Rows of a table."""

    def __init__(
        self,
        table: Table,
        loaded: LoadedModel[Any],
        summary: AuditSummary | None,
        settings: MitigationParameters,
        audit_settings: AuditParameters,
    ) -> None:
        self.table = table
        super().__init__(table, loaded, summary, settings, audit_settings)

    def fingerprint(self) -> str:
        """Return the sha256 of the rows."""
        return table_fingerprint(self.table)

    def audited_fingerprint(self) -> str:
        """Return the sha256 of the rows: all of them are audited."""
        return self.fingerprint()

    def examples(self, places: NDArray[np.intp]) -> Examples:
        """Return some rows with their labels."""
        return Examples(self.table.frame.iloc[places], self.labels[places])

    def material(self, targets: tuple[Target, ...], split: DataSplit) -> TableMaterial:
        """Put the rows together with the targets."""
        return TableMaterial(self.table, self.labels, split, targets, self.audit_settings)

    def _audit(self, places: NDArray[np.intp] | None, progress: Progress | None) -> Findings:
        table = self.table if places is None else self.table.take(places)
        return run_audit(self.loaded, table, self.finding_settings, progress=progress)

    def _sides(self, rule_set: RuleSet, places: NDArray[np.intp]) -> tuple[int, int]:
        inside = int(rule_set.matches(self.table)[places].sum())
        return inside, len(places) - inside

    @property
    def _clusters(self) -> Clusters | None:
        """Which rows are one unit, by the description."""
        return None if self.table.clusters is None else Clusters.of(self.table.clusters)


class TextInputs(MitigationInputs):
    """Texts."""

    one = "text"

    def __init__(
        self,
        texts: Texts,
        terms: SensitiveTerms,
        loaded: LoadedModel[Any],
        summary: AuditSummary | None,
        settings: MitigationParameters,
        audit_settings: AuditParameters,
    ) -> None:
        self.texts = texts
        self.terms = terms
        only = texts.training_only
        self.audited = texts if only is None else texts.take(np.flatnonzero(~only))
        super().__init__(texts, loaded, summary, settings, audit_settings)

    def fingerprint(self) -> str:
        """Return the sha256 of all texts."""
        return texts_fingerprint(self.texts)

    def audited_fingerprint(self) -> str:
        """Return the sha256 of all texts but those that are for training only."""
        return texts_fingerprint(self.audited)

    def examples(self, places: NDArray[np.intp]) -> Examples:
        """Return some texts with their labels."""
        texts = tuple(self.texts.texts[index] for index in places.tolist())
        return Examples(texts, self.labels[places])

    def training(self, split: DataSplit) -> Examples:
        """Return the texts to train on: not those for training only, which are learnt already.

        Made-up texts by the thousand would take most of the time and teach nothing new.
        """
        places, only = split.parts.train, self.texts.training_only
        return self.examples(places if only is None else places[~only[places]])

    def material(self, targets: tuple[Target, ...], split: DataSplit) -> TextMaterial:
        """Put the texts together with the targets."""
        return TextMaterial(
            self.texts, self.terms, self.labels, split, targets, self.audit_settings
        )

    def _audit(self, places: NDArray[np.intp] | None, progress: Progress | None) -> Findings:
        texts, only = self.audited, self.texts.training_only
        if places is not None:
            texts = self.texts.take(places if only is None else places[~only[places]])
        return run_text_audit(
            self.loaded, texts, self.terms, self.finding_settings, progress=progress
        )

    def _sides(self, rule_set: RuleSet, places: NDArray[np.intp]) -> tuple[int, int]:
        categories, terms = chosen_terms(rule_set, self.terms)
        mentions = self._mentions
        seeds = mentions.presence()[places][:, list(categories)].all(axis=1)
        inside = np.ones(len(places), dtype=bool)
        for category, term in zip(categories, terms, strict=True):
            inside &= mentions.contains()[category][places, term]
        return int(seeds.sum()), int((~inside).sum())

    @cached_property
    def _mentions(self) -> Mentions:
        return find_mentions(self.texts.texts, self.terms)

    def _split(self, seed: int, **options: Any) -> Split:
        texts = self.texts
        return super()._split(seed, parts=texts.parts, training_only=texts.training_only, **options)

    @cached_property
    def _clusters(self) -> Clusters | None:
        """Which texts are one unit: equal and nearly equal ones, and those of a known cluster."""
        return text_clusters(self.texts, self._mentions)


def mitigation_inputs(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    audit: AuditResult | str | Path | None,
    favourable: Any,
    threshold: float,
    terms: SensitiveTerms | str | Path | None,
    limit: int | None,
    parameters: Mapping[str, Any],
) -> MitigationInputs:
    """Find and check what a mitigation is given; see :func:`testsgd.mitigate`."""
    check_count("limit", limit, 1)
    summary = read_audit(audit)
    specification = resolve_specification(spec, favourable=favourable)
    if summary is not None and favourable is None:
        saved = summary.data.label.favourable
        if saved != specification.label.favourable:
            specification = resolve_specification(specification, favourable=saved)
            favourable = saved
    settings, rest = _mitigation_parameters(parameters)
    if summary is None:
        audit_settings = audit_parameters({**rest, "seed": settings.seed}, specification)
    else:
        _check_left_to_audit(rest)
        audit_settings = saved_parameters(summary, jobs=rest.get("jobs"))
    _check_no_holdout(audit_settings)
    check_repeatable(audit_settings, "a mitigation")
    given, seed = favourable is not None, audit_settings.seed
    if isinstance(specification, TextSpecification):
        texts = find_texts(data, specification, limit=limit, seed=seed, training=data is None)
        return TextInputs(
            texts,
            resolve_terms(terms, specification),
            load_text_model(model, specification, favourable_given=given, threshold=threshold),
            summary,
            settings,
            audit_settings,
        )
    check_no_terms(terms, specification)
    loaded, table = find_model_and_table(
        model,
        data,
        specification,
        favourable_given=given,
        threshold=threshold,
        limit=limit,
        seed=seed,
    )
    return RowInputs(
        table,
        loaded,
        summary,
        settings,
        audit_settings,
    )


def _mitigation_parameters(
    parameters: Mapping[str, Any],
) -> tuple[MitigationParameters, dict[str, Any]]:
    """Take a mitigation's own parameters out of all; the rest are an audit's."""
    own = {item.name for item in fields(MitigationParameters)}
    known = own | {item.name for item in fields(AuditParameters)}
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"there is no parameter {name!r}",
                where="mitigate",
                remedy=f"the parameters are {', '.join(sorted(known))}",
            )
    settings = MitigationParameters(
        **{name: value for name, value in parameters.items() if name in own}
    )
    return settings, {name: value for name, value in parameters.items() if name not in own}


def _check_no_holdout(audit_settings: AuditParameters) -> None:
    """Raise a :class:`ParameterError` if groups were found on a part of the data only.

    Which groups those are depends on the model, so the audits of two models have no groups in
    common that could be compared.
    """
    if audit_settings.holdout is not None:
        raise ParameterError(
            f"the audit holds out {audit_settings.holdout:g} of the data, a mitigation needs the "
            "groups of all of them",
            where="holdout",
            remedy="give an audit without a holdout, or none to make a new one",
        )


def _check_left_to_audit(parameters: Mapping[str, Any]) -> None:
    """Raise a :class:`ParameterError` if a saved audit's own parameters are given again."""
    for name, value in parameters.items():
        if name != "jobs" and value is not None:
            raise ParameterError(
                f"{value!r} is given, but the saved audit has its own",
                where=name,
                remedy=f"leave {name} out, or the audit",
            )
