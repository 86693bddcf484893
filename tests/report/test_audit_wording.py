"""How numbers of an audit are written that no other result has."""

from __future__ import annotations

import pytest
from audit_documents import as_summary, census_document

from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.auditing.report.wording import _mean, q_text
from testsgd.report.formatting import MINUS


@pytest.mark.parametrize(
    ("value", "text"),
    [(38.217, "38.2"), (12345.6, "12,346"), (0.0, "0"), (-0.01234, f"{MINUS}0.0123")],
)
def test_means_have_three_digits_at_least(value: float, text: str) -> None:
    assert _mean(value) == text


def test_small_q_values_are_not_written_out() -> None:
    assert (q_text(0.0312), q_text(1e-9), q_text(None)) == ("0.031", "<0.001", "")


@pytest.mark.parametrize(
    ("metric", "difference", "among", "less"),
    [
        ("selection_rate", "the rate of “yes”", "observed rates", "is predicted “yes” less often"),
        ("true_positive_rate", "true positive rate", "true label is “yes”", "predicted “yes” less"),
        (
            "false_positive_rate",
            "false positive rate",
            "label is not “yes”",
            "predicted “yes” less",
        ),
        ("precision", "precision", "prediction is “yes”", "true label is “yes” less often"),
        ("accuracy", "accuracy", "rows as they are", "predictions are right less often"),
    ],
)
def test_titles_say_which_metric_is_compared(
    metric: str, difference: str, among: str, less: str
) -> None:
    document = census_document()
    document["parameters"] |= {"metric": metric, "estimand": "observed"}
    words = vocabulary(as_summary(document))
    title = words.differences("yes", "observed")
    assert title.startswith(f"difference in {difference}, in points (")
    assert among in title
    assert less in words.sides_of_zero("yes")
    # A chart of accuracies has no rates of a label.
    assert ("predicted" in words.how_often("yes")) == (metric == "selection_rate")
