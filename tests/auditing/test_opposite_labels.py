"""A column of the other class: the verdict asks about it."""

from __future__ import annotations

import numpy as np

import testsgd


def test_predictions_of_the_other_class_are_asked_about() -> None:
    source = np.random.default_rng(5)
    true = source.integers(0, 2, 800)
    people = {"sex": source.choice(["f", "m"], 800)}

    def sentences(said: np.ndarray) -> str:
        result = testsgd.audit_predictions(
            said, true, sensitive_features=people, replicates=19, stability=0
        )
        return " ".join(result.verdict.sentences)

    assert "0.0% of the labels" in sentences(1 - true)
    assert "of the labels" not in sentences(true)
