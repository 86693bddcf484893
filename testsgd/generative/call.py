"""The call that assesses outputs of a generative model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.generative.outputs import labelled_outputs
from testsgd.generative.pictures import PicturesLike, shown_pictures
from testsgd.generative.readers import Classifier
from testsgd.generative.report.summarise import summarise_assessment
from testsgd.generative.result import GenerativeResult
from testsgd.generative.run import assess
from testsgd.generative.specification import GenerativeSpecification
from testsgd.progress import Progress, shown_progress, step

GenerativeSpecificationLike: TypeAlias = GenerativeSpecification | Mapping[str, Any] | str | Path


def assess_generative(
    outputs: Any,
    specification: GenerativeSpecificationLike,
    *,
    classify: Mapping[str, Classifier] | None = None,
    before: GenerativeResult | str | Path | None = None,
    keep_sequence: bool = True,
    pictures: PicturesLike | None = None,
    progress: Progress | bool | None = None,
) -> GenerativeResult:
    """Assess the conditional fairness of outputs of a generative model.

    Parameters
    ----------
    outputs : path-like, data frame, mapping of columns, or sequence of texts or of mappings
        The outputs in their order: texts, or a log with the columns ``prompt``, ``output``,
        ``asked`` and those named like groupings. A column of a grouping has names or numbers of
        its values, and is empty or 0 where an output is unrelated. Files are ``.jsonl``, ``.json``
        or ``.csv``.
    specification : GenerativeSpecification, mapping, str or path-like
        The groupings and what must hold: an object, its keys, or the TOML file that has them.
    classify : mapping of str to callable, optional
        For a grouping a function from an output to the name or number of its value, or None.
    before : GenerativeResult, str or path-like, optional
        An earlier result, which the report shows beside this one.
    keep_sequence : bool
        Whether the result has the values of single outputs, which drawings of waiting times need.
    pictures : sequence of bytes, path-like or None, or True, optional
        Small PNG files, one for each output in order, of which the report shows the first ones of
        each requirement; None where an output has none. True: the outputs are pictures themselves.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.

    Returns
    -------
    GenerativeResult
        Its exit code is 1 if a requirement is broken, 3 if there is too little to judge.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    References
    ----------
    Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
    in Generative AIs.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.assess_generative(
    ...     ["A woman at work", "A man", "A man", "A man"],
    ...     {"groupings": {"gender": {"values": ["female", "male"],
    ...                               "terms": {"female": ["woman"], "male": ["man"]}}},
    ...      "requirements": [{"grouping": "gender", "beta": 2}]})
    >>> result.exit_code, result.verdict.status
    (1, 'broken')
    """
    specified = GenerativeSpecification.of(specification)
    earlier = before
    if isinstance(before, str | Path):
        earlier = GenerativeResult.from_json(before)
    with shown_progress(progress) as reporter:
        with step(reporter, "reading outputs"):
            labelled = labelled_outputs(outputs, specified, classify=classify)
            shown = shown_pictures(pictures, labelled.pictures, number=len(labelled))
        with step(reporter, "assessing"):
            outcome = assess(labelled, specified)
    summary = summarise_assessment(
        outcome,
        specified,
        before=earlier.summary.sequences if isinstance(earlier, GenerativeResult) else (),
        keep_sequence=keep_sequence,
        pictures=shown,
    )
    return GenerativeResult(summary)
