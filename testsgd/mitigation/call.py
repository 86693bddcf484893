"""One call for a mitigation, of a model of rows or of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.auditing import AuditResult
from testsgd.data import SensitiveTerms, Specification, check_count
from testsgd.mitigation.alternatives import resolve_alternatives
from testsgd.mitigation.inputs import mitigation_inputs
from testsgd.mitigation.journal import Journal, check_journal
from testsgd.mitigation.report.summarise import summarise_mitigation
from testsgd.mitigation.result import MitigationResult
from testsgd.mitigation.run import run_mitigation
from testsgd.mitigation.samples import samples_frame
from testsgd.models import Examples, LoadedModel, Refitter, refitter_for
from testsgd.progress import READING, Progress, about, shown_progress, step
from testsgd.single_thread import on_one_thread


def mitigate(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    audit: AuditResult | str | Path | None = None,
    group: int | None = None,
    all_above: float | None = None,
    favourable: Any = None,
    threshold: float = 0.5,
    terms: SensitiveTerms | Mapping[str, Any] | str | Path | None = None,
    limit: int | None = None,
    trust_pickle: bool = False,
    compare: str | Sequence[str] = "all",
    journal: str | Path | None = None,
    resume: bool = False,
    writable: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> MitigationResult:
    """Retrain a model with samples that counter its discrimination of a group.

    The group is found by an audit of the rows that are not held out. Samples of it that the model
    itself labels the other way are added to the training data, more and more of them; of the
    retrained models that lose hardly any accuracy the one with the smallest difference is kept.
    Only then the held-out rows are looked at. The verdict is about the model that is kept, there.

    Parameters
    ----------
    model : str, path-like, estimator, keras.Model or None
        As for :func:`audit`, but it must be possible to train it again: a network that
        ``testsgd train`` wrote (by name or file), a scikit-learn estimator, or a compiled Keras
        model; None for the network trained for the data set. It is not changed itself.
    data : data frame, list of str, path-like or None
        The rows or texts, with their labels, as for :func:`audit`.
    spec : DatasetSpecification, TextSpecification, mapping, str or path-like
        What the data mean.
    audit : AuditResult, str or path-like, optional
        The audit that the group is from, or its ``result.json``. It is of all rows, so the held-out
        ones have a part in naming the group, and the result says so. If not given, the rows that
        are not held out are audited.
    group : int, optional
        The group's rank in the audit; if neither this nor `all_above` is given, the first with at
        least 30 held-out rows on both sides.
    all_above : float, optional
        In place of one group: all distinct groups with a larger score.
    favourable : str, optional
        The label whose rate is compared, in place of the description's.
    threshold : float
        A score above it counts as the favourable label.
    terms : SensitiveTerms, mapping, str or path-like, optional
        For texts: the sensitive terms, as for :func:`testsgd.audit`.
    limit : int, optional
        Work on a random sample of this number of rows or texts.
    trust_pickle : bool
        Whether a pickled file may be read as the model, which runs the code that is in it.
    compare : str or sequence of str
        Which other methods to try on the same splits: ``"all"``, ``"none"``, or some of
        ``"retraining without samples"``, ``"reweighing"`` and ``"exponentiated-gradient"``.
    journal : path-like, optional
        A file that keeps what was done, for `resume`; it stays, and may be removed when the result
        is safe.
    resume : bool
        Go on from the journal after an interruption.
    writable : bool
        Raise an error at once if the retrained model could not be written.
    progress : callable or bool, optional
        As for :func:`audit`.
    **parameters
        Those of :class:`testsgd.mitigation.MitigationParameters` (``max_accuracy_drop``, ``runs``,
        ``steps``, ``fewest_samples``, ``largest_share``, ``side``, ``fallback``, ``max_draws``,
        ``from_scratch``, ``seed``), and without `audit` those of
        :class:`testsgd.auditing.AuditParameters` (``theta``, ...). What a mitigation does not
        report its audits do not work out: a guarantee for the whole search, stability, conditional
        scores.

    Returns
    -------
    MitigationResult
        The report, the samples and the retrained model; the original is kept if no candidate
        lowers the difference within the budget.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong: the
        audit has no such group or is of another model, there are no labels, the model cannot be
        trained again.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
    Discrimination, RQ3 and Table 7.
    """
    alternatives = resolve_alternatives(compare)
    check_journal(journal, resume=resume)
    with shown_progress(progress) as reporter:
        with step(reporter, READING):
            inputs = mitigation_inputs(
                model,
                data,
                spec,
                audit=audit,
                group=group,
                all_above=all_above,
                favourable=favourable,
                threshold=threshold,
                terms=terms,
                limit=limit,
                trust_pickle=trust_pickle,
                **parameters,
            )
            material = inputs.material
            settings = inputs.settings
            # Before the audit, which may take long: without labels or training nothing comes of it.
            training = material.examples(material.trained)
            validation = material.examples(material.split.parts.validation)

            def build(
                loaded: LoadedModel[Any], training: Examples, ending: Examples, anew: bool
            ) -> Refitter[Any]:
                return refitter_for(
                    loaded, inputs.material.specification, training, ending, from_scratch=anew
                )

            refitter = build(inputs.loaded, training, validation, settings.from_scratch)
            if writable:
                refitter.check_writable()
        findings = inputs.find(reporter)
        material = inputs.with_targets(findings)
        # Groups that were found without the held-out rows are compared on all rows all the same.
        if material.split.unseen:
            findings = material.audit(
                inputs.loaded, material.audited, progress=about(reporter, "all rows")
            )
        soft_targets = material.soft_targets(material.trained) if settings.soften else None
        if soft_targets is not None:
            softened = replace(training, targets=soft_targets)
            refitter = build(inputs.loaded, softened, validation, settings.from_scratch)
        # One thread: how sums are rounded, and so the samples, must not depend on the processors.
        with on_one_thread():
            outcome = run_mitigation(
                inputs.loaded,
                refitter,
                material,
                findings,
                settings,
                build=build,
                compare=alternatives,
                journal=Journal(journal, inputs.about(findings, material.targets), resume=resume),
                progress=reporter,
            )
    return MitigationResult(summarise_mitigation(outcome), outcome)


def counter_samples(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    audit: AuditResult | str | Path | None = None,
    group: int | None = None,
    all_above: float | None = None,
    count: int | None = None,
    favourable: Any = None,
    threshold: float = 0.5,
    terms: SensitiveTerms | Mapping[str, Any] | str | Path | None = None,
    limit: int | None = None,
    trust_pickle: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Return samples that counter the discrimination of a group, and leave the model as it is.

    For models that testsgd cannot train again.

    Parameters
    ----------
    model, data, spec, audit, group, all_above, favourable, threshold, terms, limit
        As for :func:`mitigate`; any model will do.
    count : int, optional
        How many samples of each side of each group that gets some; ``largest_share`` of the
        training rows if not given.
    trust_pickle, progress
        As for :func:`mitigate`.
    **parameters
        As for :func:`mitigate`.

    Returns
    -------
    pandas.DataFrame
        The features, or the text, and the label, in the order in which they should be added; and
        where each is from: the seed, what was changed, and why it has its label. The seeds are
        training rows only: 72 of 100, if the model has no card that says otherwise.

    Raises
    ------
    TestSGDError
        As for :func:`mitigate`.

    Examples
    --------
    >>> import testsgd
    >>> samples = testsgd.counter_samples(None, None, "demo", count=100)
    >>> len(samples), samples["gender"].unique().tolist()
    (100, ['female'])
    """
    check_count("count", count, 1)
    with shown_progress(progress) as reporter:
        with step(reporter, READING):
            inputs = mitigation_inputs(
                model,
                data,
                spec,
                audit=audit,
                group=group,
                all_above=all_above,
                favourable=favourable,
                threshold=threshold,
                terms=terms,
                limit=limit,
                trust_pickle=trust_pickle,
                **parameters,
            )
        findings = inputs.find(reporter)
    settings = inputs.settings
    material = inputs.with_targets(findings)
    gaps = [
        *(target.score for target in material.targets),
        *(abs(target.effect) for target in material.controls),
    ]
    with (
        shown_progress(progress) as reporter,
        step(reporter, "drawing samples"),
        on_one_thread(),
    ):
        pools = [
            pool
            for draw_pools in (material.pools, material.control_pools)
            for pool in draw_pools(
                inputs.loaded.model,
                settings,
                kind=material.wanted_kinds(settings)[0],
                gaps=gaps,
                run=1,
                wanted=count or settings.sizes(material.training_size)[-1],
            )
        ]
    return samples_frame(pools, material.specification, material.all_targets)
