"""One call for a certification of a network over a whole domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from testsgd.certification.domain import (
    Domain,
    data_set_of,
    find_domain,
    with_data_weights,
)
from testsgd.certification.network import FeedForward, find_network
from testsgd.certification.outcome import Moment
from testsgd.certification.parameters import CertificationParameters
from testsgd.certification.report.summarise import summarise_certification
from testsgd.certification.result import CertificationResult
from testsgd.certification.search_progress import SearchProgress
from testsgd.data import DatasetSpecification, catalogue, find_table
from testsgd.errors import ParameterError
from testsgd.io import CHECKPOINT, OTHER_FILE_REMEDY, check_table_name, goes_on_from, kind_of_file
from testsgd.models import read_card
from testsgd.parameters import parameters_of
from testsgd.progress import shown_progress

if TYPE_CHECKING:
    from testsgd.certification.asking import PersonCheck
    from testsgd.certification.given_people import People

Weight = Literal["volume", "data"]
_RESUME = "resume from it, or remove it"


def protected_names(protected: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of the protected inputs, given one by one or with commas.

    Parameters
    ----------
    protected : str, sequence of str or None
        Names, each text one or several with commas between them.

    Returns
    -------
    tuple of str or None
        Each name once, in order; None if nothing or an empty list or tuple is given.

    Raises
    ------
    ParameterError
        If something else than texts is given, or they hold no name.

    Examples
    --------
    >>> protected_names("race, gender"), protected_names(["race", "gender,age"])
    (('race', 'gender'), ('race', 'gender', 'age'))
    """
    if protected is None or protected in ([], ()):
        return None
    texts = [protected] if isinstance(protected, str) else protected
    fits = isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)
    parts = [part.strip() for text in texts for part in text.split(",")] if fits else []
    names = tuple(dict.fromkeys(part for part in parts if part))
    if not names:
        raise ParameterError(
            "no input is named" if fits else f"{protected!r} is no list of inputs",
            where="protected",
            remedy="give names of inputs, with commas or as a list",
            name="protected",
        )
    return names


def _check_weight(weight: str, data: Any) -> None:
    if weight not in get_args(Weight):
        raise ParameterError(
            f"{weight!r} is not known",
            where="weight",
            remedy=f"choose one of {', '.join(get_args(Weight))}",
            name="weight",
        )
    if data is not None and weight != "data":
        raise ParameterError(
            "rows are given, but the shares are those of the volume",
            where="data",
            remedy="weight by the data, or leave the rows out",
            name="data",
        )


def _domain_of(model: Any, threshold: float | None) -> Any:
    """Return the domain that a model names: the data set it was trained on, or its ``.nnet`` file.

    A ParameterError is raised if there is none; before that, find_network raises its own errors if
    the model cannot be read.
    """
    text = str(model) if isinstance(model, (str, Path)) else ""
    if text in catalogue() or text.endswith(".nnet"):
        return text
    if text.endswith(".keras") and Path(text).is_file():
        name = read_card(Path(text).parent).get("data set")
        if name in catalogue():
            return name
    # If there is no such model, that is the first thing to know.
    find_network(model, threshold=threshold)
    raise ParameterError(
        "the domain is not given, and cannot be read from the model",
        where="domain",
        remedy="give a data set of the catalogue, or a file with the range of every input",
        name="domain",
    )


def certify(
    model: Any,
    domain: Domain | DatasetSpecification | Mapping[str, Any] | str | Path | None = None,
    *,
    protected: str | Sequence[str] | None = None,
    protected_values: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    weight: str = "volume",
    data: Any = None,
    threshold: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    export_regions: str | Path | None = None,
    progress: Callable[[Moment], None] | bool | None = None,
    **parameters: Any,
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
        a data set its sensitive features. If these have more than 1,000 combinations of values,
        those with the most values are left out, and the result says so.
    protected_values : sequence or mapping, optional
        Which values are compared: those of the one protected input; of several combinations, or a
        list for each by name. All of the domain's if not given.
    weight : {"volume", "data"}
        Whether all points count the same, or as the domain weighs them if it has weights; or as the
        data's own distribution of each input says.
    data : data frame or path-like, optional
        With ``weight="data"``: the rows, in place of the data set's own files.
    threshold : float, optional
        A score above it counts as the one label; the model's own, mostly 0.5, if not given. A
        network whose outputs are neither probabilities nor unbounded, as after a last tanh, needs
        it.
    checkpoint : path-like, optional
        A file that keeps what was proved, to go on from later.
    resume : bool
        Go on from the checkpoint, if there is one. Without it a checkpoint that is there is an
        error, so that hours of work are not written over.
    export_regions : path-like, optional
        A ``.csv`` or ``.parquet`` file for all boxes of the domain with what is proved of each; the
        report has the largest regions only.
    progress : callable or bool, optional
        As for :func:`audit`, but a callable is called with a
        :class:`testsgd.certification.Moment`. The share shown is that of the time limit, and
        beside it stands what is proved, fair or unfair; without a limit the share is that.
    **parameters
        Those of :class:`testsgd.certification.CertificationParameters`, such as ``time_limit`` in
        seconds, or the gates ``fail_above`` and ``fail_below``.

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
    from testsgd.certification.run import certify_network

    settings = parameters_of(CertificationParameters, parameters, where="certify")
    path = _checkpoint(checkpoint, resume)
    exported = None if export_regions is None else Path(export_regions)
    if exported is not None:
        check_table_name(exported, where="export_regions")
    _check_weight(weight, data)
    search = SearchProgress(settings.time_limit)
    shown = False if callable(progress) else progress
    with shown_progress(shown, detail=search.detail) as reporter:

        def tell(moment: Moment) -> None:
            search.take(moment)
            if reporter is not None:
                reporter(*search.share())

        if reporter is not None:
            reporter(*search.share())
        network, fitted, specification = _network_on_domain(
            model, domain, protected, protected_values, threshold
        )
        if weight == "data":
            fitted = _weighted(fitted, specification, data)
        certification = certify_network(
            network,
            fitted,
            settings,
            progress=progress if callable(progress) else tell,
            checkpoint=path,
            export_regions=exported,
        )
    return CertificationResult(summarise_certification(certification), certification)


def _network_on_domain(
    model: Any, domain: Any, protected: Any, protected_values: Any, threshold: float | None
) -> tuple[FeedForward, Domain, DatasetSpecification | None]:
    """Return a network, the domain fitted to it, and the data set that the domain is of."""
    if domain is None:
        domain = _domain_of(model, threshold)
    specification = data_set_of(domain)
    source = domain if specification is None else specification
    names = protected_names(protected)
    # A mistake in the domain is found before the network is read.
    described = find_domain(source, protected=names, protected_values=protected_values)
    network = find_network(
        model, threshold=threshold, specification=specification, categories=described.groups
    )
    fitted = find_domain(
        source, protected=names, protected_values=protected_values, network=network
    )
    return network, fitted, specification


def ask(
    model: Any,
    domain: Domain | DatasetSpecification | Mapping[str, Any] | str | Path | None = None,
    *,
    rows: People,
    protected: str | Sequence[str] | None = None,
    protected_values: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    threshold: float | None = None,
    result: CertificationResult | None = None,
    where: str = "rows",
) -> tuple[PersonCheck, ...]:
    """Return whether a network is fair to each of given people, without a certification.

    Fair to a person is a network whose decision does not change when only the protected inputs
    change; all their values are tried.

    Parameters
    ----------
    model, domain, protected, protected_values, threshold
        As :func:`testsgd.certify` takes them.
    rows : data frame, mapping, or sequence of mappings
        The people: a value for each input, the protected ones included. Other columns of a data
        frame are ignored; a name in a mapping that is no input is an error, but for other columns
        of the data set that is the domain.
    result : CertificationResult, optional
        A certification of the model on the domain, to tell in which of its regions people lie.
    where : str
        What to call the rows in messages.

    Returns
    -------
    tuple of PersonCheck
        One a person, in their order.

    Raises
    ------
    TestSGDError
        As of :func:`testsgd.certify`; a DataError if a person is outside of the domain.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> check, = ask(model, ranges, protected="man", rows={"skill": 9, "man": 0})
    >>> check.verdict, check.decision, check.counterpart, check.counterpart_decision
    ('unfair', '0', {'man': 1}, '1')
    """
    from testsgd.certification.asking import check_people
    from testsgd.certification.given_people import people_values

    network, fitted, specification = _network_on_domain(
        model, domain, protected, protected_values, threshold
    )
    known: set[str] = set()
    if specification is not None:
        known = {*specification.features, specification.label.column}
    values = people_values(fitted, rows, where=where, ignored=known)
    checks = check_people(network, fitted, values)
    return checks if result is None else result.locate(checks, fitted, network, values)


def _weighted(domain: Domain, specification: DatasetSpecification | None, data: Any) -> Domain:
    if specification is None:
        raise ParameterError(
            "only a data set's description says how its rows are read",
            where="weight",
            remedy="give a data set's name or description as the domain, or weight by volume",
            name="weight",
        )
    return with_data_weights(domain, find_table(data, specification, limit=None, seed=0))


def _checkpoint(checkpoint: str | Path | None, resume: bool) -> Path | None:
    if checkpoint is None:
        if resume:
            raise ParameterError(
                "there is nothing to go on from",
                where="resume",
                remedy="name the file of the checkpoint too",
                name="resume",
            )
        return None
    path = Path(checkpoint)
    if goes_on_from(path) and not resume:
        is_own = path.is_file() and kind_of_file(path) == CHECKPOINT
        raise ParameterError(
            "there is a checkpoint already" if is_own else "what is there is no checkpoint",
            where=str(checkpoint),
            remedy=_RESUME if is_own else OTHER_FILE_REMEDY,
            name="checkpoint",
        )
    return path
