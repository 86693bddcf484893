"""Functions of rows or texts whose answers are checked at every call and read as decisions."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, ClassVar, Generic, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Label, category_text
from testsgd.data.categories import ZERO_ONE
from testsgd.data.schema_parts import is_number
from testsgd.errors import ModelError, TestSGDError
from testsgd.models.answers import (
    DEFAULT_THRESHOLD,
    Asked,
    Output,
    array_of_answers,
    code_labels,
    decision_scores,
    no_answer,
    no_scores,
    texts_of_classes,
    threshold_of_type,
    unfit_answers,
)
from testsgd.models.failures import NUMBERS_REMEDY, model_failure
from testsgd.progress import tell_answered

# How pandas calls arrays of objects that are scores, such as nullable columns leave behind.
_OBJECT_SCORES = ("floating", "mixed-integer-float", "decimal")


class CheckedFunction(ABC, Generic[Asked]):
    """A function that gives labels or scores, one for each thing it is asked about.

    Parameters
    ----------
    function : callable
        Takes n rows or texts, returns n labels, or n scores in [0, 1] of the favourable label. It
        gets a copy: what it does to it changes nothing.
    label : Label
        The labels and which of them is favourable.
    name, kind : str
        What to call the model in a report.
    favourable_given : bool
        True if the user named the favourable label for this very audit, so that a model of two
        labels may call the other one as it likes.
    threshold : float
        Scores above it count as favourable.
    output : {"labels", "scores"}, optional
        What the function returns; settled by the first call if not given.
    """

    thread_safe = False

    unit: ClassVar[str] = "row"  # What the function is asked about.

    def __init__(
        self,
        function: Callable[[Asked], Any],
        *,
        label: Label,
        name: str,
        kind: str = "function",
        favourable_given: bool = False,
        threshold: float = DEFAULT_THRESHOLD,
        output: Output | None = None,
    ) -> None:
        self._function = function
        self._label = label
        self._favourable_given = favourable_given
        self._threshold = threshold
        self._output = output
        self._returned: set[str] = set()  # All labels so far, by the names that the model gave.
        self._seen: set[str] = set()  # The same, with one name for all that are joined.
        self._meanings = code_labels(label)
        # Labels that are favourable together have one name.
        self._joined = dict.fromkeys(label.together, label.favourable)
        self.batch_size: int | None = None  # The most that it is asked about in one call.
        self.name = name
        self.kind = kind

    @property
    def output(self) -> Output:
        """What the model returns; known after the first call."""
        return self._output or "labels"

    @property
    def threshold(self) -> float | None:
        """The threshold on scores, None for labels."""
        return self._threshold if self.output == "scores" else None

    @property
    def read_as(self) -> dict[str, str]:
        """What codes such as 0 and 1 were read as, if the model gave them in place of labels."""
        meanings = self._meanings
        if not self._seen or not self._seen <= set(meanings):
            return {}
        not_seen = {text for pair in ZERO_ONE if not self._seen & set(pair) for text in pair}
        if set(meanings) - {text for pair in ZERO_ONE for text in pair}:
            # All codes of a description are named as soon as one of them is seen.
            not_seen -= set(self._label.map or {})
        return {text: word for text, word in meanings.items() if text not in not_seen}

    @property
    def others(self) -> tuple[str, ...]:
        """The labels seen so far besides the favourable one, if they are several."""
        rest = sorted(self._seen - {self._label.favourable})
        return tuple(rest) if len(rest) > 1 and not self.read_as else ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The labels seen so far that are not among the labels of the data."""
        declared = self._label.values
        if declared is None or self.read_as or self.output != "labels":
            return ()
        return tuple(sorted(self._seen - set(declared)))

    @property
    def function(self) -> Callable[[Asked], Any]:
        """What is called."""
        return self._function

    def reading(self, function: Callable[[Asked], Any]) -> Self:
        """Return a model of another function, its answers read as this one's are."""
        model = type(self)(
            function,
            label=self._label,
            name=self.name,
            kind=self.kind,
            favourable_given=self._favourable_given,
            threshold=self._threshold,
            output=self._output,
        )
        model.batch_size = self.batch_size
        return model

    def with_threshold(self, threshold: float) -> Self:
        """Return the same model with another threshold on its scores."""
        model = copy.copy(self)
        model._threshold = threshold
        return model

    @abstractmethod
    def given(self, asked: Any) -> Asked:
        """Return what the function takes of some rows or texts."""

    def _own(self, given: Any) -> Asked:
        """Return a copy of what the function takes, for the function alone."""
        copied: Asked = given.copy()
        return copied

    @abstractmethod
    def _takes(self, given: Asked) -> str:
        """Return in words what the function must accept."""

    def decisions(self, asked: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows or texts that get the favourable label, shape (n,).

        The first call settles whether the answers are labels or scores, if that was not given.

        Raises
        ------
        ModelError
            If the model raises an error, does not return one answer for each row or text, returns
            a missing answer, a score outside [0, 1], or labels that do not fit the description.
        """
        if len(asked) == 0:
            return np.zeros(0, dtype=bool)
        return self._decided(self._answers(self._function, asked))

    def decisions_of(self, answers: Any, asked: Any) -> NDArray[np.bool_]:
        """Return what :meth:`decisions` returns, of answers that the function gave before.

        They are checked in the same way, and `asked` are the rows or texts that they are about.
        """
        return self._decided(self._checked(answers, asked))

    def _decided(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the favourable answers, shape (n,); see :meth:`decisions`."""
        if self._output is None:
            self._output = self._recognise(answers)
            if self._output == "labels" and self._threshold != DEFAULT_THRESHOLD:
                estimator = getattr(self._function, "__self__", None)
                has_some = hasattr(estimator, "predict_proba") or bool(
                    getattr(estimator, "class_probabilities", None)
                )
                raise no_scores(self._threshold, has_some=has_some and self.unit == "row")
        return (
            self._from_scores(answers) if self._output == "scores" else self._from_labels(answers)
        )

    def labels(self, asked: Any) -> NDArray[np.object_] | None:
        """Return the label of each row or text as a text, shape (n,); None if it gives scores.

        Labels that are favourable together keep their own names. :meth:`decisions` must have been
        called before, so that it is known what the answers are.
        """
        if self.output == "scores":
            return None
        codes, uniques = pd.factorize(self._answers(self._function, asked))
        texts = [category_text(value) for value in uniques]
        self._check_labels(texts)
        read_as = self.read_as
        return np.array([read_as.get(text, text) for text in texts], dtype=object)[codes]

    def scores(self, asked: Any) -> NDArray[np.floating[Any]] | None:
        """Return a number for each row or text, larger the nearer it is to the favourable label.

        These are the function's scores, or what an estimator computes before it chooses a label,
        shape (n,); None if the function gives labels only. :meth:`decisions` must have been called
        before, so that it is known what the answers are.
        """
        if len(asked) == 0:
            return np.zeros(0)
        function: Callable[[Any], Any] | None = self._function
        if self._output != "scores":
            meanings = self._meanings if self.read_as else self._joined
            function = decision_scores(self._function, self._label.favourable, meanings)
        if function is None:
            return None
        answers = self._answers(function, asked)
        # Of 32 bits they stay, so that a threshold is one of 32 bits, too.
        return answers if np.issubdtype(answers.dtype, np.floating) else answers.astype(np.float64)

    def _answers(self, function: Callable[[Asked], Any], asked: Any) -> NDArray[Any]:
        """Return a function's answers as an array, shape (n,), batch by batch."""
        size = self.batch_size or len(asked)
        if len(asked) <= size:
            return self._answers_at_once(function, asked)
        parts = getattr(asked, "iloc", asked)
        answers = []
        for start in range(0, len(asked), size):
            answers.append(self._answers_at_once(function, parts[start : start + size]))
            tell_answered(min(start + size, len(asked)), len(asked))
        return np.concatenate(answers)

    def _answers_at_once(self, function: Callable[[Asked], Any], asked: Any) -> NDArray[Any]:
        """Return the answers of one call, shape (n,), after their number is checked."""
        unit = self.unit
        given: Any = self.given(asked)
        try:
            # Copied whole: a shallow copy of a frame shares cells with ours, which even pandas 3
            # lets `frame["age"].array[0] = 1` write to.
            answers = function(self._own(given))
        except TestSGDError:
            raise
        except (Exception, SystemExit) as error:
            # SystemExit too: a model that leaves must not choose the exit code of the audit.
            raise model_failure(
                error,
                where=f"model {self.name!r}",
                takes=self._takes(given),
                unit=unit,
                columns=tuple(getattr(given, "columns", ())),
                model=self.name,
            ) from error
        return self._checked(answers, asked)

    def _checked(self, answers: Any, asked: Any) -> NDArray[Any]:
        """Return answers as an array with one for each row or text, shape (n,)."""
        unit = self.unit
        try:
            array = array_of_answers(answers)
        except ValueError as error:
            raise self._error(
                f"the model did not return one answer a {unit}", "return n labels or n scores"
            ) from error
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        misfit = unfit_answers(array, asked=len(asked), unit=unit)
        if misfit is not None:
            raise self._error(*misfit)
        if pd.isna(array).any():
            index = int(np.flatnonzero(pd.isna(array))[0])
            raise self._error(*no_answer(index, unit=unit))
        if array.dtype == object and pd.api.types.infer_dtype(array) in _OBJECT_SCORES:
            return array.astype(np.float64)
        return array

    def _distinct(self, answers: NDArray[Any]) -> tuple[NDArray[np.intp], list[str]]:
        """Return answers as codes, shape (n,), and the texts of the labels that these stand for."""
        try:
            codes, uniques = pd.factorize(answers)
        except TypeError as error:
            raise self._error(
                f"the model returned a {type(answers[0]).__name__} for {self.unit} 0",
                f"return one label or score a {self.unit}",
            ) from error
        return codes, [category_text(value) for value in uniques]

    def _joined_names(self, texts: Iterable[str]) -> list[str]:
        """Return labels with the common name in place of those that are favourable together."""
        return [self._joined.get(text, text) for text in texts]

    def _recognise(self, answers: NDArray[Any]) -> Output:
        """Return what the answers are: scores if they are floats that are no declared labels."""
        declared = set(self._label.values or [self._label.favourable])
        floats = np.issubdtype(answers.dtype, np.floating)
        texts = set(self._joined_names(self._distinct(answers)[1]))
        return "scores" if floats and not texts <= declared else "labels"

    def _from_scores(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the scores above the threshold, shape (n,), after they are checked."""
        if not np.issubdtype(answers.dtype, np.number):
            raise self._error(
                f"the model returned scores at first, then {category_text(answers[0])!r}",
                "return one kind only",
            )
        scores = answers.astype(np.float64)
        outside = (scores < 0) | (scores > 1)
        if outside.any():
            index = int(np.flatnonzero(outside)[0])
            remedy = "return the probability of the favourable label"
            if self.unit == "row":
                # There are no metrics of texts.
                remedy = f"{remedy}, or {NUMBERS_REMEDY}"
            raise self._error(
                f"the model returned the score {scores[index]:g} for {self.unit} {index}, outside "
                "[0, 1]",
                remedy,
            )
        return scores > threshold_of_type(self._threshold, answers.dtype)

    def _from_labels(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the answers with the favourable label, shape (n,), after a check."""
        codes, texts = self._distinct(answers)
        self._check_labels(texts)
        labels = [self.read_as.get(text, text) for text in self._joined_names(texts)]
        favourable = np.array([label == self._label.favourable for label in labels], dtype=bool)
        decided: NDArray[np.bool_] = favourable[codes]
        return decided

    def _check_labels(self, texts: list[str]) -> None:
        """Check the labels of all answers so far: few rows may happen to get only some of them."""
        self._returned.update(texts)
        self._seen.update(self._joined_names(texts))
        if self.read_as:
            return
        self.check_codes(self._data_labels())
        seen = sorted(self._seen)
        declared = self._label.values
        favourable = self._label.favourable
        favourable_seen = favourable in seen
        unknown = [text for text in seen if declared is not None and text not in declared]
        # An unknown label may be a slip of the pen. It is none where the model lists it among its
        # classes, which may be rare ones, or where the user named the favourable label.
        if unknown and not (favourable_seen and (self._favourable_given or self._lists(unknown))):
            raise self._error(
                f"the model returned {unknown[0]!r}, which is not among the labels "
                f"{', '.join(declared or [])}",
                "return those labels, or scores in [0, 1] as floats, or "
                + _remedy(unknown, none_known=len(unknown) == len(seen)),
            )
        strange = declared is None and len(seen) > 1 and not favourable_seen
        if strange and not self._favourable_given:
            # Only where no labels are declared; taken for "never favourable", it would look fair.
            few = " and ".join(map(repr, seen)) if len(seen) == 2 else ", ".join(seen[:6])
            raise self._error(
                f"the model returned the labels {few}, none of which is the favourable label "
                f"{favourable!r}",
                "correct label.favourable, or name the label with --favorable",
            )

    def _data_labels(self) -> list[str]:
        """Return the labels of the data, those that are favourable together by their own names."""
        label = self._label
        if label.values is None:
            return []
        return [*label.others, *(label.together or (label.favourable,))]

    def check_codes(self, data_labels: Sequence[str]) -> None:
        """Check that a whole number is the same label in the data and in the model's answers.

        A model that was trained on 0 and 1 in place of the labels 1 and 2, as a LabelEncoder writes
        them, returns a 1 that is the label 2.

        Parameters
        ----------
        data_labels : sequence of str
            The labels of the data, none if they are not known.

        Raises
        ------
        ModelError
            If the favourable label is a whole number, and the data have another whole number that
            the model never returns, and the other way round.
        """
        if not data_labels or self.output != "labels" or self.read_as:
            return
        favourable = self._label.together or (self._label.favourable,)
        # Words that are equal are the same label.
        if not any(map(_is_code, favourable)):
            return
        classes = self._classes()
        known = classes or sorted(self._returned)
        others = [text for text in known if _is_code(text) and text not in data_labels]
        absent = [text for text in data_labels if _is_code(text) and text not in known]
        if not others or not absent or _have_one_order(data_labels, known, favourable):
            return
        model_codes, data_codes = (", ".join(sorted(texts)) for texts in (known, data_labels))
        unit = self.unit
        raise self._error(
            f"the model {'has' if classes else 'returned'} the labels {model_codes}, and those of "
            f"the data are {data_codes}: its "
            f"{others[0]} is no label of the data and it has no {absent[0]}, so its numbers may be "
            "codes that stand for other labels, as those of a LabelEncoder do",
            f"wrap the model so that it returns the labels of the data, such as lambda {unit}s: "
            f"encoder.inverse_transform(model.predict({unit}s)), or give the true labels in the "
            "model's codes (y, or label.map in a description), and the favourable one of these "
            "(favourable=, --favorable)",
        )

    def _classes(self) -> list[str]:
        """Return an estimator's ``classes_`` as texts; none if it has no such list."""
        estimator = getattr(self._function, "__self__", self._function)
        classes = getattr(estimator, "classes_", None)
        return [] if classes is None else texts_of_classes(classes, {})

    def _lists(self, labels: list[str]) -> bool:
        """Return whether an estimator's ``classes_`` hold all these labels."""
        return set(labels) <= set(self._joined_names(self._classes()))

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=f"model {self.name!r}", remedy=remedy, model=self.name)


def _is_code(text: str) -> bool:
    """Return whether a label is a whole number."""
    return is_number(text) and float(text).is_integer()


def _have_one_order(
    data_labels: Collection[str], model_labels: Collection[str], favourable: Collection[str]
) -> bool:
    """Return whether the favourable label is the same one by its value and by its place.

    So it is of -1 and 1 in the data, and 0 and 1 of the model: by either 1 is favourable.
    """
    if len(favourable) > 1 or len(data_labels) != len(model_labels):
        return False
    if not all(map(_is_code, (*data_labels, *model_labels))):
        return False
    (label,) = favourable
    places = [
        sorted(texts, key=float).index(label)
        for texts in (data_labels, model_labels)
        if label in texts
    ]
    return len(places) == 2 and places[0] == places[1]


def _remedy(unknown: list[str], *, none_known: bool) -> str:
    """Return what to do about a model's labels that a description does not list.

    `none_known`: whether it lists none of those that the model gave.
    """
    if not any(map(_is_code, unknown)) and not any(set(unknown) & set(pair) for pair in ZERO_ONE):
        if none_known:
            return (
                "say in a description's label.map which of them each label of the data stands for"
            )
        return (
            "name a description's favourable label with --favorable, or give a model whose "
            "classes_ list them"
        )
    return "say in a description's label.map which label each number stands for"
