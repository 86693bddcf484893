"""One call for a certification of a network over a whole domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.api.certification_inputs import certification_inputs
from testsgd.certification.domain import Domain
from testsgd.certification.outcome import CertificationParameters, Moment
from testsgd.data import DatasetSpecification
from testsgd.reporting import check_policy, summarise_certification
from testsgd.results import CertificationResult


def certify(
    model: Any,
    domain: Domain | DatasetSpecification | Mapping[str, Any] | str | Path | None = None,
    *,
    protected: str | Sequence[str] | None = None,
    protected_values: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    time: float | None = 60.0,
    undecided: float | None = None,
    weight: str = "volume",
    data: Any = None,
    jobs: int = 1,
    samples: int = 10_000,
    confidence: float = 0.95,
    threshold: float | None = None,
    max_unfair: float | None = None,
    min_certified: float | None = None,
    checkpoint: str | Path | None = None,
    random_state: int = 0,
    progress: Callable[[Moment], None] | None = None,
) -> CertificationResult:
    """Prove for which share of all people in a domain a network is individually fair.

    Fair to a person is a network whose decision does not change when only the protected inputs
    change. What is proved holds for every person in the domain, not only for those in a file.

    Parameters
    ----------
    model : str, path-like, estimator, keras.Model or None
        A name of the catalogue for the network that is shipped for that data set; a ``.keras``,
        ``.h5``, ``.onnx``, ``.skops`` or ``.nnet`` file; a Keras model of dense layers; a
        scikit-learn ``MLPClassifier`` or linear classifier, or a pipeline that ends in one;
        ``"package.module:object"`` for one of these objects; None for the network trained for the
        data set that is the domain.
    domain : Domain, DatasetSpecification, mapping, str, path-like or None
        The range of every input: a data set of the catalogue or its description, a file of ranges
        (``.toml``, or ``.json`` with a key after a colon). None: that of the data set that the
        model was trained on, if it is known.
    protected : str or sequence of str, optional
        The protected inputs, with commas or as a list; if not given those that the domain names, of
        a data set its sensitive features.
    protected_values : sequence or mapping, optional
        Which values are compared: those of the one protected input; of several combinations, or a
        list for each by name. All of the domain's if not given.
    time : float or None
        Seconds after which the search stops; None: it runs until everything is decided.
    undecided : float, optional
        The search stops as soon as the undecided share is at most this.
    weight : {"volume", "data"}
        Whether all points count the same, or as the data's own distribution of each input says.
    data : data frame or path-like, optional
        With ``weight="data"``: the rows, in place of the data set's own files.
    jobs : int
        Processors to work on.
    samples : int
        Points drawn from what stays undecided, to estimate how much of it is unfair.
    confidence : float
        Confidence of that estimate's interval.
    threshold : float, optional
        A score above it counts as the one label; the model's own, mostly 0.5, if not given.
    max_unfair : float, optional
        Policy: the largest share that may be unfair.
    min_certified : float, optional
        Policy: the smallest share that must be proved fair.
    checkpoint : path-like, optional
        A file that keeps what was proved; if it is there, the work goes on from it.
    random_state : int
        Same number, same samples.
    progress : callable, optional
        Called now and then with a :class:`testsgd.certification.Moment`.

    Returns
    -------
    CertificationResult
        Ctrl-C ends the search early, and gives what was proved until then; a second one breaks
        off.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong: the
        model is no network or has a layer that cannot be certified, the domain does not fit it,
        a protected input is not in it.

    References
    ----------
    Kim, Wang and Wang, FairQuant: Certifying and Quantifying Fairness of Deep Neural Networks.

    Examples
    --------
    >>> import testsgd
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0, 1], [9, 0], [1, 0], [8, 1]], [0, 1, 0, 1])
    >>> ranges = {"inputs": {"income": {"integer": [0, 9]}, "woman": {"integer": [0, 1]}}}
    >>> result = testsgd.certify(model, ranges, protected="woman")
    >>> f"{result.certified:.0%} proved fair, {result.falsified:.0%} proved unfair"
    '100% proved fair, 0% proved unfair'
    """
    # Loads all that the search needs, and that only now.
    from testsgd.certification import certify_network

    settings = CertificationParameters(
        time=time,
        undecided=undecided,
        jobs=jobs,
        samples=samples,
        confidence=confidence,
        random_state=random_state,
    )
    # Before all the work, what is wrong with the policy.
    check_policy(max_unfair, min_certified)
    given = certification_inputs(
        model,
        domain,
        protected=protected,
        protected_values=protected_values,
        threshold=threshold,
        weight=weight,
        data=data,
    )
    certification = certify_network(
        given.network,
        given.domain,
        settings,
        progress=progress,
        checkpoint=None if checkpoint is None else Path(checkpoint),
    )
    summary = summarise_certification(
        certification, max_unfair=max_unfair, min_certified=min_certified
    )
    return CertificationResult(summary, certification)
