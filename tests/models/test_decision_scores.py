"""How near the favourable label is, for models that say labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from testsgd.data import specification_from_mapping
from testsgd.errors import ModelError
from testsgd.models import load_model, load_text_model

LABEL = {"column": "label", "favourable": "yes", "values": ["no", "yes"]}
ROWS = specification_from_mapping(
    {
        "dataset": {"name": "rows"},
        "label": LABEL,
        "features": {
            "wage": {"type": "integer", "range": [0, 99]},
            "age": {"type": "integer", "range": [0, 99], "sensitive": True},
        },
    }
)
TEXTS = specification_from_mapping({"dataset": {"name": "texts"}, "text": {}, "label": LABEL})
FRAME = pd.DataFrame({"wage": np.arange(60) % 37, "age": np.arange(60) % 7})
HIGH = FRAME["wage"] + 2 * FRAME["age"] > 25


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "zero"), ("a", "yes", "z")])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=10_000),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), LinearSVC()),
    ],
)
def test_scores_are_larger_where_an_estimator_says_the_label(estimator, labels):
    others = [label for label in labels if label != "yes"]
    said = np.where(HIGH, "yes", np.resize(others, len(FRAME)))
    fitted = estimator.fit(FRAME, said)
    specification = ROWS.model_copy(
        update={"label": ROWS.label.model_copy(update={"values": list(labels)})}
    )
    model = load_model(fitted, specification, favourable_given=True).model
    decisions = model.decisions(FRAME)
    scores = model.scores(FRAME)
    if len(labels) > 2 and not hasattr(fitted, "predict_proba"):
        assert scores is None
        return
    assert scores.shape == (60,)
    if len(labels) == 2:
        assert scores[decisions].min() > scores[~decisions].max()
    # What was fitted is a sum of wage and age: more of both is nearer.
    assert (model.scores(FRAME + 10) >= scores).all()


def test_scores_of_a_function_of_scores_are_its_own():
    model = load_model(lambda frame: frame["wage"] / 100, ROWS).model
    model.decisions(FRAME)
    assert model.scores(FRAME).tolist() == (FRAME["wage"] / 100).tolist()


def test_a_regressor_tells_scores():
    fitted = DecisionTreeRegressor(max_depth=2, random_state=0).fit(FRAME, HIGH.astype(float))
    model = load_model(fitted, ROWS).model
    model.decisions(FRAME)
    assert model.scores(FRAME).tolist() == fitted.predict(FRAME).tolist()


def test_a_function_of_labels_tells_none():
    model = load_model(lambda frame: np.where(frame["wage"] > 20, "yes", "no"), ROWS).model
    model.decisions(FRAME)
    assert model.scores(FRAME) is None


def test_a_function_that_happens_to_belong_to_an_object_tells_none():
    class Judge:
        classes_ = ("no", "yes")

        def decide(self, frame):
            return np.where(frame["wage"] > 20, "yes", "no")

        def predict_proba(self, frame):
            raise AssertionError("this is not what decides")

    model = load_model(Judge().decide, ROWS).model
    model.decisions(FRAME)
    assert model.scores(FRAME) is None


def test_what_a_function_does_to_the_rows_it_gets_changes_nothing():
    def greedy(frame):
        scores = frame["wage"] / 100
        frame.loc[:, "wage"] = 0
        return scores

    model = load_model(greedy, ROWS).model
    before = FRAME.copy()
    model.decisions(FRAME)
    model.scores(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)


def test_an_estimator_whose_scores_fail_is_named():
    class Broken:
        classes_ = np.array(["no", "yes"])

        def predict(self, frame):
            return np.full(len(frame), "no")

        def predict_proba(self, frame):
            raise ValueError("not today")

    model = load_model(Broken(), ROWS).model
    model.decisions(FRAME)
    with pytest.raises(ModelError, match="raised ValueError: not today"):
        model.scores(FRAME)


def test_models_of_texts_tell_theirs_too():
    model = load_text_model(lambda texts: [len(text) / 10 for text in texts], TEXTS).model
    model.decisions(["a"])
    assert model.scores(["a", "bb"]).tolist() == [0.1, 0.2]
    assert model.scores([]).tolist() == []
    labels = load_text_model(lambda texts: ["yes"] * len(texts), TEXTS).model
    labels.decisions(["a"])
    assert labels.scores(["a"]) is None


def test_labels_that_are_favourable_together_have_the_sum_of_their_probabilities():
    grades = np.array(["a", "b", "c"])[(FRAME["wage"] // 13).clip(upper=2)]
    fitted = LogisticRegression(max_iter=10_000).fit(FRAME, grades)
    label = {**LABEL, "favourable": ["a", "b"], "values": ["a", "b", "c"]}
    specification = specification_from_mapping({**ROWS.model_dump(), "label": label})
    model = load_model(fitted, specification).model
    assert model.decisions(FRAME).tolist() == (fitted.predict(FRAME) != "c").tolist()
    assert model.scores(FRAME) == pytest.approx(1 - fitted.predict_proba(FRAME)[:, 2])


def test_numbers_that_are_no_scores_are_sent_to_metrics():
    model = load_model(lambda frame: frame["wage"] * 1.5, ROWS).model
    with pytest.raises(ModelError) as caught:
        model.decisions(FRAME)
    assert "audit_model_by_metrics" in caught.value.remedy
