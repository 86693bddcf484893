"""Fitting estimators of scikit-learn, and others with the same methods, again."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Label, category_text
from testsgd.errors import ModelError
from testsgd.models.blackbox import PROBE_ROWS
from testsgd.models.checked_function import CheckedFunction
from testsgd.models.failures import failure_text
from testsgd.models.files import CARD_FILE, write_retrained_card
from testsgd.models.refitting.protocol import Examples, Stage
from testsgd.models.skops_files import SKOPS_FILE, check_skops, write_skops

# Random states of scikit-learn are below it.
_MOST_STATE = 2**31 - 1


class EstimatorRefitter:
    """A scikit-learn estimator: clones of it are fitted, it is never changed.

    The clones' answers are read as those of `model`, the estimator as it was audited.
    """

    goes_on = False

    def __init__(
        self,
        estimator: Any,
        model: CheckedFunction[Any],
        label: Label,
        card: Mapping[str, Any],
        training: Examples,
    ) -> None:
        self._estimator = estimator
        self._model = model
        # Only when it has been asked it is known whether it answers with labels or with scores.
        model.decisions(training.inputs[:PROBE_ROWS])
        self._labels = fitted_labels(estimator, label, model)
        self._card = dict(card)
        self._training = training
        self.kind = f"{type(estimator).__name__}, fitted anew"
        self.takes_weights = weight_parameter(estimator) is not None

    @property
    def estimator(self) -> Any:
        """The estimator whose clones are fitted."""
        return self._estimator

    @property
    def label_values(self) -> tuple[Any, Any]:
        """What the estimator calls the favourable label, and the other one."""
        return self._labels

    def reading(self, estimator: Any) -> CheckedFunction[Any]:
        """Return a fitted estimator as a model whose answers are read as the original's."""
        return self._model.reading(estimator.predict)

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[Any]]:
        """Fit a clone to the training examples and further ones; yield it as the only stage."""
        examples = self._training.instead(weights=weights, labels=labels)
        if extra is not None and len(extra):
            examples = examples.join(extra)
        yield Stage(self.reading(self._fitted(examples, seed)), "fitted")

    def write(self, model: Any, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a fitted estimator as ``model.skops``, and its card."""
        folder = Path(folder)
        write_skops(estimator_of(model.function), folder / SKOPS_FILE)
        write_retrained_card(folder, self._card, about, model_file=SKOPS_FILE)
        return [folder / SKOPS_FILE, folder / CARD_FILE]

    def check_writable(self) -> None:
        """Raise an error if skops is not installed."""
        check_skops()

    def _fitted(self, examples: Examples, seed: int) -> Any:
        estimator = seeded_clone(self._estimator, seed)
        favourable, other = self._labels
        labels = np.array([other, favourable])[examples.favourable.astype(np.intp)]
        options = {}
        if examples.weights is not None and (examples.weights != 1).any():
            name = weight_parameter(estimator)
            if name is None:
                raise ModelError(
                    f"the examples have weights, but {type(estimator).__name__}.fit takes none",
                    where=f"model {self._model.name!r}",
                    remedy="use an estimator whose fit takes sample_weight, or leave out the "
                    "weights",
                )
            options[name] = examples.weights
        try:
            estimator.fit(self._model.given(examples.inputs).copy(), labels, **options)
        except (Exception, SystemExit) as error:
            # SystemExit too: a model that leaves must not choose the exit code.
            raise ModelError(
                f"fitting it again raised {failure_text(error)}",
                where=f"model {self._model.name!r}",
                remedy="call its fit on the training data to see the traceback, or export the "
                "samples with --export and retrain it yourself",
            ) from error
        return estimator


def estimator_of(origin: Any) -> Any:
    """Return the object whose ``predict`` is asked: `origin` itself, or what it is a method of."""
    owner = getattr(origin, "__self__", None)
    if owner is not None and getattr(origin, "__name__", "") == "predict":
        return owner
    return origin


def is_estimator(origin: Any) -> bool:
    """Return whether an object can be fitted again as scikit-learn's estimators are."""
    return not inspect.isclass(origin) and all(
        callable(getattr(origin, name, None)) for name in ("fit", "predict", "get_params")
    )


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Return an unfitted estimator with the same parameters, but random states drawn by a seed."""
    from sklearn.base import clone

    copy = clone(estimator)
    generator = np.random.default_rng(seed)
    states = {
        name: int(generator.integers(_MOST_STATE))
        for name in sorted(copy.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return copy.set_params(**states) if states else copy


def weight_parameter(estimator: Any) -> str | None:
    """Return the name under which ``fit`` takes the examples' weights; None if it takes none."""
    steps = getattr(estimator, "steps", None)
    if steps:
        name, last = steps[-1]
        inner = weight_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    try:
        parameters = inspect.signature(estimator.fit).parameters
    except (AttributeError, TypeError, ValueError):
        return None
    if "sample_weight" in parameters:
        return "sample_weight"
    if not any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values()):
        return None
    # What takes anything hands it on: a search to its estimator, a vote to all of its estimators.
    inside = getattr(estimator, "estimator", None)
    if inside is not None:
        return weight_parameter(inside)
    voters = [part for _, part in getattr(estimator, "estimators", None) or []]
    names = {weight_parameter(part) for part in voters if part != "drop"}
    return "sample_weight" if names == {"sample_weight"} else None


def fitted_labels(estimator: Any, label: Label, model: CheckedFunction[Any]) -> tuple[Any, Any]:
    """Return what an estimator calls the favourable label and the other one."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return _labels_without_classes(label, model)
    values = list(np.asarray(classes).ravel())
    texts = [category_text(value) for value in values]
    if set(texts) <= set(model.read_as):
        texts = [model.read_as[text] for text in texts]
    if len(values) == 2 and label.favourable in texts:
        index = texts.index(label.favourable)
        return values[index], values[1 - index]
    # Floats that are no labels are read as scores, see testsgd.models.answers.
    if len(values) == 2 and model.output == "scores" and texts == ["0", "1"]:
        return values[1], values[0]
    raise ModelError(
        f"it knows {len(values)} label(s) ({', '.join(texts[:6])}), and can be fitted again only "
        f"with two, one of them {label.favourable!r}",
        where=f"model {model.name!r}",
        remedy="give an estimator of two labels, or export the samples with --export and retrain "
        "it yourself",
    )


def _labels_without_classes(label: Label, model: CheckedFunction[Any]) -> tuple[Any, Any]:
    """Return the labels that a regressor, or an estimator without ``classes_``, is fitted to."""
    if model.output == "scores":
        return 1.0, 0.0
    if model.read_as:
        numbers = [text for text, word in model.read_as.items() if word == label.favourable]
        favourable = int(numbers[0] in ("1", "True"))
        return favourable, 1 - favourable
    others = [value for value in label.values or [] if value != label.favourable]
    if len(others) != 1:
        raise ModelError(
            "it does not tell its labels (no classes_), and the data have not two",
            where=f"model {model.name!r}",
            remedy="give an estimator with classes_, or export the samples with --export and "
            "retrain it yourself",
        )
    return label.favourable, others[0]
