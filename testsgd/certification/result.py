"""The result of a certification: what is proved, what is estimated, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testsgd.certification.report.exports import (
    counterexamples_frame,
    people_frame,
    regions_frame,
    render_certification_junit,
)
from testsgd.certification.report.layout import certification_layout
from testsgd.certification.report.summary import (
    SCHEMA_NAME,
    CertificationSummary,
    CertificationVerdict,
)
from testsgd.certification.report.verdict import without_times
from testsgd.errors import ParameterError, ResultError
from testsgd.io import csv_of
from testsgd.report.documents import DocumentKind
from testsgd.report.exporters import EXPORTERS, Exporter
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from testsgd.certification.asking import PersonCheck
    from testsgd.certification.domain import Domain
    from testsgd.certification.given_people import People
    from testsgd.certification.network import FeedForward
    from testsgd.certification.outcome import Certification


class CertificationResult(DocumentResult[CertificationSummary]):
    """The result of a certification; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : CertificationSummary
        The document.
    certification : Certification, optional
        What it was made from; a result that was read back from JSON has none.

    Examples
    --------
    >>> import testsgd
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0, 1], [9, 0], [1, 0], [8, 1]], [0, 1, 0, 1])
    >>> ranges = {"inputs": {"income": {"integer": [0, 9]}, "woman": {"integer": [0, 1]}}}
    >>> result = testsgd.certify(model, ranges, protected="woman", fail_above=0.1)
    >>> result.verdict.status, result.exit_code
    ('gate_passed', 0)
    >>> result.certified, result.falsified, result.undecided, result.estimated
    (1.0, 0.0, 0.0, None)
    """

    document: ClassVar = DocumentKind(
        CertificationSummary,
        SCHEMA_NAME,
        what="a certification",
        again="run the certification again",
        layout=certification_layout,
        reword=without_times,
    )
    # ``csv`` holds the regions, ``junit`` the gates for a CI service.
    exporters: ClassVar = {
        **EXPORTERS,
        "csv": Exporter("regions.csv", text=lambda result: result.to_csv()),
        "junit": Exporter("junit.xml", text=lambda result: result.to_junit()),
    }

    def __init__(
        self, summary: CertificationSummary, certification: Certification | None = None
    ) -> None:
        super().__init__(summary)
        self.certification = certification

    @property
    def verdict(self) -> CertificationVerdict:
        """The outcome in words, with the gates and the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def certified(self) -> float:
        """Share of the domain that is proved fair: a lower bound."""
        return self.summary.proved.certified

    @property
    def falsified(self) -> float:
        """Share of the domain that is proved unfair: a lower bound."""
        return self.summary.proved.falsified

    @property
    def undecided(self) -> float:
        """Share of the domain of which nothing is proved: an upper bound."""
        return self.summary.proved.undecided

    @property
    def estimated(self) -> tuple[float, float] | None:
        """Interval of the domain's unfair share, estimated by sampling; None without samples."""
        estimate = self.summary.estimated
        return None if estimate is None else estimate.domain_confidence_interval

    @property
    def regions(self) -> pd.DataFrame:
        """Where unfairness sits, proved or possible, a region a row."""
        return regions_frame(self.summary)

    @property
    def counterexamples(self) -> pd.DataFrame:
        """People who get different decisions; rows of a case differ in what is protected."""
        return counterexamples_frame(self.summary)

    def check(self, rows: People) -> pd.DataFrame:
        """Return whether the network is fair to each of given people, and in which region they lie.

        Parameters
        ----------
        rows : data frame, mapping, or sequence of mappings
            The people: a value for each input, the protected ones included. Columns of a data
            frame are found by their names, and others, such as the label or an id, are ignored.

        Returns
        -------
        pandas.DataFrame
            A row a person, with the index of a data frame that was given, and the attributes of
            :class:`testsgd.certification.PersonCheck` as columns.

        Raises
        ------
        ResultError
            If the result was read back from JSON, which does not hold the network.
        DataError
            If a person is outside of the domain, a data frame has no column of an input, or a
            mapping has a name that is none.

        Examples
        --------
        >>> import testsgd
        >>> from sklearn.linear_model import LogisticRegression
        >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
        >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
        >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
        >>> result = testsgd.certify(model, ranges, protected="man")
        >>> found = result.check({"skill": [7, 9], "man": [0, 0]})
        >>> found["verdict"].tolist(), found["region"].tolist()
        (['fair', 'unfair'], ['outside of all regions', 'skill from 8 to 10'])
        """
        from testsgd.certification.asking import check_people
        from testsgd.certification.given_people import people_values

        certification = self.certification
        if certification is None:
            raise ResultError(
                "a result that was read back does not hold the network",
                where="check",
                remedy="ask with the model: testsgd.certification.ask(model, domain, rows=rows, "
                "result=result)",
            )
        network, domain = certification.network, certification.domain
        values = people_values(domain, rows)
        checks = check_people(network, domain, values)
        return people_frame(self.locate(checks, domain, network, values), rows)

    def locate(
        self,
        checks: Sequence[PersonCheck],
        domain: Domain,
        network: FeedForward,
        values: NDArray[np.float64],
    ) -> tuple[PersonCheck, ...]:
        """Return checks of people with the region of this result in which each lies.

        Where everybody was tried and different things are proved of parts of that region, it is the
        box that ``export_regions`` has for the person; everybody is tried again to find it.

        Parameters
        ----------
        checks : sequence of PersonCheck
            One a person.
        domain : Domain
            The domain that the people were checked in.
        network : FeedForward
            The network that they were checked with.
        values : numpy.ndarray of float, shape (people, inputs)
            Their values.

        Returns
        -------
        tuple of PersonCheck

        Raises
        ------
        ParameterError
            If this result is of another network or domain.
        """
        from testsgd.certification.asking import located, located_in_parts

        summary = self.summary
        _check_same_subject(summary, network, domain)
        # The regions hold all unfair and undecided weight; people without weight may lie anywhere.
        nothing = summary.proved.falsified + summary.proved.undecided == 0
        covering = summary.domain.weight == "volume" and (nothing or summary.settings.regions > 1)
        found = located(checks, domain, values, summary.regions, covering=covering)
        if summary.method != "enumerated":
            return found
        # All people were tried, so each lies in a box of which one thing is proved. Regions
        # of a weighted domain say nothing of people without weight, so none is taken from these.
        weighted = summary.domain.weight != "volume"
        coarse = [
            place
            for place, check in enumerate(found)
            if weighted or check.region_proof in ("mixed", None)
        ]
        if not coarse:
            return found
        finer = located_in_parts(
            [checks[place] for place in coarse], network, domain, values[coarse]
        )
        by_place = dict(zip(coarse, finer, strict=True))
        return tuple(by_place.get(place, check) for place, check in enumerate(found))

    def to_junit(self) -> str:
        """Return the gates as JUnit XML."""
        return render_certification_junit(self.document.written(self.summary))

    def to_csv(self) -> str:
        """Return the regions as CSV text."""
        return csv_of(self.regions)

    def __repr__(self) -> str:
        name = self.summary.network.name
        return one_line(f"<CertificationResult of {name!r}: {self.verdict.headline}>")


def _check_same_subject(
    summary: CertificationSummary, network: FeedForward, domain: Domain
) -> None:
    """Raise a ParameterError if a result is of another network or domain than people are."""
    described = summary.domain
    inputs = [item.text for item in described.inputs]
    compared = [
        [domain.input(name).text(value) for name, value in zip(domain.protected, row, strict=True)]
        for row in domain.protected_values
    ]
    same = {
        "network": (summary.network.file_sha256, summary.network.columns)
        == (network.file_sha256, network.width),
        "domain": [item.name for item in described.inputs] == list(domain.names)
        and inputs == [item.extent for item in domain.inputs],
        "comparison": (described.protected, described.compared)
        == (list(domain.protected), compared),
        "decision threshold": summary.network.decision_threshold
        in (None, network.decision.decision_threshold),
    }
    for what, equal in same.items():
        if not equal:
            raise ParameterError(
                f"the result is of another {what}",
                where="result",
                remedy="give the result of a certification of this model on this domain",
                name="result",
            )
