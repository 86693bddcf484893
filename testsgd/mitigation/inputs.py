"""The inputs of a mitigation: rows or texts with labels, a model, and the audit of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._version import __version__
from testsgd.auditing import AuditParameters, AuditResult, AuditSummary, Findings
from testsgd.auditing.inputs import (
    audit_parameters,
    check_all_rows,
    check_repeatable,
    check_same_audit,
    check_same_data,
    check_same_model,
    find_model_and_table,
    read_audit,
    saved_parameters,
)
from testsgd.auditing.text import text_clusters
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
from testsgd.mitigation.data_splits import DataSplit, Material, finding_parameters
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.mitigation.targets import Target, choose_targets
from testsgd.mitigation.text_splits import TextMaterial
from testsgd.models import LoadedModel, Split, load_text_model
from testsgd.models.training_split import data_labels, split_data
from testsgd.progress import Progress
from testsgd.rules import find_mentions
from testsgd.scoring import Clusters


@dataclass(frozen=True)
class MitigationInputs:
    """The checked inputs of a mitigation: model, split data, settings and saved audit."""

    loaded: LoadedModel[Any]
    # The saved audit that names the groups, if there is one.
    summary: AuditSummary | None
    settings: MitigationParameters
    # How groups are found.
    finding: AuditParameters
    # The data and their split, without targets.
    material: Material
    # The sha256 of all the data, as a model card names it.
    fingerprint: str

    def find(self, progress: Progress | None = None) -> Findings:
        """Audit the model to find groups, on all data but those held out.

        An audit that was saved is made again, on all data, and checked to be the same.
        """
        material = self.material
        seen = np.intersect1d(material.split.parts.seen, material.audited)
        findings = material.audit(
            self.loaded,
            seen if self.summary is None else material.audited,
            parameters=self.finding,
            progress=progress,
        )
        if self.summary is not None:
            check_same_audit(self.summary, findings)
        return findings

    def with_targets(self, findings: Findings) -> Material:
        """Return the material with the groups and control effects that are to be countered."""
        material = self.material.with_control_targets(self.loaded, findings)
        targets = choose_targets(
            findings,
            self.settings,
            enough=material.enough_held_out,
            alone=not material.controls,
        )
        return material.with_targets(targets)

    def about(self, findings: Findings, targets: tuple[Target, ...]) -> dict[str, Any]:
        """Return what identifies the mitigation in a journal: data, model, targets and settings."""
        audit = asdict(findings.parameters)
        del audit["jobs"]
        return {
            "version": __version__,
            "settings": asdict(self.settings),
            "audit": audit,
            "data": self.fingerprint,
            "model": [findings.model_fingerprint, self.loaded.file_sha256],
            "targets": [target.rule_set.text for target in targets],
        }


def mitigation_inputs(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    audit: AuditResult | str | Path | None = None,
    favourable: Any = None,
    threshold: float = 0.5,
    terms: SensitiveTerms | Mapping[str, Any] | str | Path | None = None,
    limit: int | None = None,
    trust_pickle: bool = False,
    **parameters: Any,
) -> MitigationInputs:
    """Return the checked inputs of a mitigation; the parameters are :func:`testsgd.mitigate`'s."""
    check_count("limit", limit, 1)
    summary = read_audit(audit)
    specification = resolve_specification(spec, favourable=favourable)
    if summary is not None and favourable is None:
        saved = summary.data.label
        if saved.favourable != specification.label.favourable:
            favourable = saved.together or saved.favourable
            specification = resolve_specification(specification, favourable=favourable)
    settings, rest = _mitigation_parameters(parameters)
    if summary is None:
        audit_settings = audit_parameters({**rest, "seed": settings.seed}, specification)
        check_all_rows(
            audit_settings, "a mitigated model decides about all people, so it is made of all rows"
        )
    else:
        _check_left_to_audit(rest)
        audit_settings = saved_parameters(summary, jobs=rest.get("jobs"))
    _check_no_holdout(audit_settings)
    check_repeatable(audit_settings, "a mitigation")
    seed = audit_settings.seed
    if isinstance(specification, TextSpecification):
        texts = find_texts(data, specification, limit=limit, seed=seed, training=data is None)
        sensitive = resolve_terms(terms, specification)
        loaded: LoadedModel[Any] = load_text_model(
            model,
            specification,
            favourable_given=favourable is not None,
            threshold=threshold,
            trust_pickle=trust_pickle,
        )
        fingerprint = texts_fingerprint(texts)
        training_only = texts.training_only
        # An audit does not look at texts for training only.
        audited = texts if training_only is None else texts.take(np.flatnonzero(~training_only))
        audited_fingerprint = texts_fingerprint(audited)
        mentions = find_mentions(texts.texts, sensitive)
        rows: Table | Texts = texts
        units: Clusters | None = text_clusters(texts, mentions)
        new_material: Callable[..., Material] = partial(TextMaterial, texts, mentions)
    else:
        check_no_terms(terms, specification)
        loaded, table = find_model_and_table(
            model,
            data,
            specification,
            favourable_given=favourable is not None,
            threshold=threshold,
            limit=limit,
            seed=seed,
            trust_pickle=trust_pickle,
        )
        fingerprint = table_fingerprint(table)
        audited_fingerprint = fingerprint
        rows = table
        units = None if table.clusters is None else Clusters.of(table.clusters)
        new_material = partial(TableMaterial, table)
    if summary is not None:
        check_same_data(summary, audited_fingerprint)
        check_same_model(summary, name=loaded.model.name, file_sha256=loaded.file_sha256)
    labels = data_labels(rows)
    split = split_of(
        rows, labels, units, fingerprint, loaded, seed=settings.seed, unseen=summary is None
    )
    return MitigationInputs(
        loaded=loaded,
        summary=summary,
        settings=settings,
        finding=finding_parameters(audit_settings),
        material=new_material(labels.astype(bool), split, (), audit_settings),
        fingerprint=fingerprint,
    )


def split_of(
    data: Table | Texts,
    labels: NDArray[np.float32],
    units: Clusters | None,
    fingerprint: str,
    loaded: LoadedModel[Any],
    *,
    seed: int,
    unseen: bool,
) -> DataSplit:
    """Return a split of the data, as the model's training had it if its card names the seed.

    Else the split is drawn with `seed`.

    `units`: which rows or texts belong together; `fingerprint`: of all the data, as a card names
    it; `unseen`: whether groups are found without the held-out rows.
    """
    card_seed = loaded.card.get("seed")
    one = data.unit
    if isinstance(card_seed, int) and loaded.card.get("data fingerprint") == fingerprint:
        parts, repeats = _independent(split_data(data, labels, card_seed), units, data)
        source = f"as in the training of the original, by its model card (seed {card_seed})"
        return DataSplit(parts, source, unseen=unseen, repeats=repeats, seed=card_seed)
    parts, repeats = _independent(split_data(data, labels, seed), units, data)
    return DataSplit(
        parts,
        f"drawn with seed {seed}",
        repeats=repeats,
        warning=f"Which {one}s the original model was trained on is not known. If the "
        f"held-out {one}s were among them, its accuracy there would flatter it; so a "
        "model that is fitted anew is compared with the original fitted to the training "
        f"{one}s alone.",
        known=False,
        unseen=unseen,
        seed=seed,
    )


def _independent(parts: Split, units: Clusters | None, data: Table | Texts) -> tuple[Split, int]:
    """Return the parts with one held-out row or text for each new unit, and how many are left out.

    Rows or texts of one unit are not independent. So those whose unit is trained on are left out,
    and of each other unit one stays: the intervals of what is measured there assume independence.
    """
    if units is None:
        return parts, 0
    unit = units.of_row
    one = data.unit
    fresh = parts.test[~np.isin(unit[parts.test], unit[parts.seen])]
    test = np.sort(fresh[np.unique(unit[fresh], return_index=True)[1]])
    if not len(test):
        raise DataError(
            f"each held-out {one} belongs to a unit that is trained on",
            where=data.source or "the data",
            remedy=f"give {one}s of more units",
        )
    return replace(parts, test=test), len(parts.test) - len(test)


def _mitigation_parameters(
    parameters: Mapping[str, Any],
) -> tuple[MitigationParameters, dict[str, Any]]:
    """Return a mitigation's own parameters, and the others, which are an audit's."""
    own = {item.name for item in fields(MitigationParameters)}
    known = own | {item.name for item in fields(AuditParameters)}
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"there is no parameter {name!r}",
                where="mitigate",
                remedy=f"the parameters are {', '.join(sorted(known))}",
            )
    rest = {name: value for name, value in parameters.items() if name not in own}
    chosen = {name: parameters[name] for name in parameters.keys() - rest.keys()}
    return MitigationParameters(**chosen), rest


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
