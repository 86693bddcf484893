"""Functions as models of texts: asked with a list of their own, and checked as those of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import testsgd
from testsgd.data import Label
from testsgd.errors import DataError, ModelError
from testsgd.models import CallableTextModel

LABEL = Label(column="toxic", favourable="yes", values=["no", "yes"])
TEXTS = ["a kind word", "", "a foul word"]


def model(function: Any, label: Label = LABEL, **options: Any) -> CallableTextModel:
    return CallableTextModel(function, label=label, name="mine", **options)


@pytest.mark.parametrize(
    ("answers", "output"),
    [
        (["no", "no", "yes"], "labels"),
        (np.array([["no"], ["no"], ["yes"]]), "labels"),
        ([0.1, 0.5, 0.9], "scores"),
        (np.array([0.1, 0.5, 0.9], dtype=np.float32), "scores"),
    ],
)
def test_labels_and_scores_are_told_apart(answers: Any, output: str) -> None:
    mine = model(lambda texts: answers)
    assert mine.decisions(TEXTS).tolist() == [False, False, True]
    assert mine.output == output
    assert mine.threshold == (0.5 if output == "scores" else None)


def test_the_function_gets_a_list_of_its_own() -> None:
    seen: list[Any] = []

    def spoil(texts: list[str]) -> list[float]:
        seen.append(list(texts))
        answers = [0.9] * len(texts)
        texts.clear()
        return answers

    texts = tuple(TEXTS)
    mine = model(spoil)
    assert mine.decisions(texts).all()
    given = list(TEXTS)
    mine.decisions(given)
    assert given == TEXTS
    assert seen == [TEXTS, TEXTS]
    assert all(type(texts) is list for texts in seen)


def test_no_text_is_no_question() -> None:
    asked: list[int] = []
    mine = model(lambda texts: asked.append(len(texts)) or [0.1] * len(texts))
    assert mine.decisions([]).shape == (0,)
    assert asked == []


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["yes"], r"shape \(1,\) for 3 texts; return one label or score a text"),
        ([[0.1], [0.2, 0.3], []], "did not return one answer a text"),
        ([0.1, np.nan, 0.2], r"\(NaN\) for text 1; make it answer for every text"),
        (["yes", np.nan, "no"], r"\(NaN\) for text 1; make it answer for every text"),
        ([0.1, 1.5, 0.2], r"score 1\.5 for text 1, outside \[0, 1\]"),
        ([{}, {}, {}], "returned a dict for text 0; return one label or score a text"),
        (["yes", "maybe", "yes"], "'maybe', which is not among the labels no, yes"),
        (["no", "maybe", "refer"], "'maybe', which is not among the labels no, yes"),
    ],
)
def test_what_cannot_be_used_is_described(answers: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        model(lambda texts: answers).decisions(TEXTS)
    assert str(raised.value).startswith("model 'mine': ")


def test_what_the_function_raises_is_passed_on() -> None:
    with pytest.raises(ModelError, match=r"raised ZeroDivisionError.*accept a list of strings"):
        model(lambda texts: 1 / 0).decisions(TEXTS)

    def fail(texts: list[str]) -> None:
        raise DataError("my own words")

    with pytest.raises(DataError, match="my own words"):
        model(fail).decisions(TEXTS)


def test_a_third_label_is_one_of_the_rest_whenever_it_comes() -> None:
    answers = iter([["yes", "no", "no"], ["yes", "maybe", "maybe"]])
    mine = model(lambda texts: next(answers), Label(column="toxic", favourable="yes"))
    mine.decisions(TEXTS)
    assert mine.decisions(TEXTS).tolist() == [True, False, False]
    assert mine.others == ("maybe", "no")


def test_one_of_several_labels_may_be_named() -> None:
    mine = model(lambda texts: ["yes", "maybe", "no"], favourable_given=True)
    assert mine.decisions(TEXTS).tolist() == [True, False, False]


def test_a_pipeline_of_scikit_learn_takes_the_list_as_it_is() -> None:
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    texts = ["good film", "fine film", "bad film", "poor film"] * 5
    pipeline.fit(texts, ["no", "no", "yes", "yes"] * 5)
    mine = model(pipeline.predict)
    assert mine.decisions(["a bad day", "a good day"]).tolist() == [True, False]
    assert not mine.thread_safe


def test_scores_of_the_other_label_are_refused_where_the_labels_show_it() -> None:
    description = {"dataset": {"name": "posts"}, "text": {}, "label": LABEL.model_dump()}
    posts = pd.DataFrame({"text": ["a foul old man", "a kind young man", "an old word"] * 30})
    posts["toxic"] = np.where(posts["text"].str.contains("foul"), "yes", "no")

    def toxicity(texts: list[str]) -> list[float]:
        return [0.8 if "foul" in text else 0.2 for text in texts]

    def kindness(texts: list[str]) -> list[float]:
        return [1 - score for score in toxicity(texts)]

    with pytest.raises(ModelError, match="texts"):
        testsgd.audit(toxicity, posts, description, favourable="no")
    testsgd.audit(toxicity, posts, description)
    testsgd.audit(kindness, posts, description, favourable="no")
    # Scores are of such a label by custom, however poor the model is.
    testsgd.audit(kindness, posts, description)
