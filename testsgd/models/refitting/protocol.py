"""Examples to train a model on again, and the protocols of what trains it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def joined_frames(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Put the rows of a data frame below those of another with the same columns, in any order.

    The columns are as in `first`, of its types wherever these hold the values of `second`.
    """
    changed = {name: _as_type_of(first[name], second[name]) for name in first.columns}
    below = second[list(first.columns)].assign(**changed)
    return pd.concat([first, below], ignore_index=True)


def _as_type_of(first: pd.Series[Any], second: pd.Series[Any]) -> pd.Series[Any]:
    """Convert a column to the type of another, unless values would change."""
    if first.dtype == second.dtype:
        return second
    if isinstance(first.dtype, pd.CategoricalDtype):
        declared = second.dropna().isin(first.cat.categories)
        return second.astype(first.dtype) if bool(declared.all()) else second
    try:
        cast = second.astype(first.dtype)
        same = cast.isna() & second.isna() | (cast.astype(object) == second.astype(object))
    except (TypeError, ValueError):
        return second
    return cast if bool(same.all()) else second


Inputs = pd.DataFrame | tuple[str, ...]

M = TypeVar("M")


@dataclass(frozen=True)
class Examples:
    """Rows or texts to train on, with their labels, weights and targets.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> rows = Examples(pd.DataFrame({"age": [20, 30]}), np.array([True, False]))
    >>> more = Examples(pd.DataFrame({"age": [40]}), np.array([True]), np.array([0.5]))
    >>> both = rows.join(more)
    >>> both.inputs["age"].tolist(), both.weights.tolist()
    ([20, 30, 40], [1.0, 1.0, 0.5])
    """

    inputs: Inputs  # Features as a :class:`~testsgd.data.Table` has them, or texts.
    favourable: NDArray[np.bool_]  # Whether the label is the favourable one; shape (n,).
    weights: NDArray[np.float64] | None = None  # How much each counts; None: all 1; shape (n,).
    # Probabilities of the favourable label that are to be learnt, such as another model's scores;
    # None: 1 for the favourable label and 0 for any other. What can be fitted to labels only, such
    # as a classifier of scikit-learn, goes by the labels all the same; shape (n,).
    targets: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        columns = (self.inputs, self.favourable, self.weights, self.targets)
        counts = [len(column) for column in columns if column is not None]
        if len(set(counts)) > 1:
            raise ValueError(f"lengths {counts}")

    def __len__(self) -> int:
        return len(self.favourable)

    def join(self, other: Examples) -> Examples:
        """Return these examples with another's after them."""
        if isinstance(self.inputs, pd.DataFrame) and isinstance(other.inputs, pd.DataFrame):
            inputs: Inputs = joined_frames(self.inputs, other.inputs)
        elif isinstance(self.inputs, tuple) and isinstance(other.inputs, tuple):
            inputs = (*self.inputs, *other.inputs)
        else:
            raise ValueError("rows and texts")
        favourable = np.concatenate([self.favourable, other.favourable])
        weights = targets = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate([self.full_weights(), other.full_weights()])
        if self.targets is not None or other.targets is not None:
            targets = np.concatenate([self.full_targets(), other.full_targets()])
        return Examples(inputs, favourable, weights, targets)

    def instead(
        self,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
    ) -> Examples:
        """Return the same rows or texts with other weights, other labels, or both.

        Other labels are learnt themselves: there are no targets then.
        """
        changed = self if labels is None else replace(self, favourable=labels, targets=None)
        return changed if weights is None else replace(changed, weights=weights)

    @property
    def frame(self) -> pd.DataFrame:
        """The inputs, which are rows."""
        assert isinstance(self.inputs, pd.DataFrame)
        return self.inputs

    @property
    def texts(self) -> tuple[str, ...]:
        """The inputs, which are texts."""
        assert isinstance(self.inputs, tuple)
        return self.inputs

    def full_weights(self) -> NDArray[np.float64]:
        """Return the weights, 1 where there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def full_targets(self) -> NDArray[np.float64]:
        """Return the targets, 1 or 0 by the label where there are none."""
        return self.favourable.astype(np.float64) if self.targets is None else self.targets


@dataclass(frozen=True)
class Stage(Generic[M]):
    """A model at one point of its training, as :meth:`Trainer.refit` yields it."""

    model: M  # The black box, which further training does not change.
    name: str  # Which point that is, such as ``"epoch 3"``.


class Trainer(Protocol[M]):
    """A model that can be trained again, with its training examples.

    Notes
    -----
    ``M`` is the type of the black boxes that :meth:`refit` yields. Each yielded model stays as it
    is while the training goes on, so that a caller can compare several of them and stop at any.

    Examples
    --------
    A model that decides alike about everyone:

    >>> class Constant:
    ...     takes_weights = False
    ...
    ...     def refit(self, extra, *, weights=None, labels=None, seed):
    ...         share = 0.5 if extra is None else extra.favourable.mean()
    ...         yield Stage(lambda frame: np.full(len(frame), share > 0.5), "epoch 1")
    >>> rows = pd.DataFrame({"age": [20, 30, 40]})
    >>> extra = Examples(rows, np.array([True, True, False]))
    >>> [(stage.name, stage.model(rows).tolist()) for stage in Constant().refit(extra, seed=0)]
    [('epoch 1', [True, True, True])]
    """

    takes_weights: bool  # True if examples may count more or less than others.

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[M]]:
        """Train on the training examples and further ones; yield the model at points of it.

        Parameters
        ----------
        extra : Examples or None
            Further examples to train on.
        weights : numpy.ndarray of float, shape (n,), optional
            How much each training example counts, instead of its own weight.
        labels : numpy.ndarray of bool, shape (n,), optional
            Whether each training example has the favourable label, instead of its own label.
        seed : int
            The same seed gives the same models.

        Yields
        ------
        Stage
            The model at one point of the training; the training goes on when the next is asked
            for.
        """
        ...


class Refitter(Trainer[M], Protocol[M]):
    """A model that can be trained again and written.

    :func:`refitter_for` returns the one for a model.

    Notes
    -----
    ``M`` is the type of the black boxes that :meth:`refit` yields and :meth:`write` takes. If
    ``goes_on`` is false, training begins anew, without the original weights.
    """

    kind: str  # What is trained and how, in words for a report.
    goes_on: bool  # True if training starts from the original weights.

    def write(self, model: M, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a model that :meth:`refit` yielded, and its card; return the files' paths.

        `about`: entries of the card, besides those of the original's. The model's file is moved
        into its place last.
        """
        ...

    def check_writable(self) -> None:
        """Raise an error if :meth:`write` would fail, such as for a package that is missing."""
        ...


# From the places of some training examples and their margins, shape (rows,), to the slopes by these
# of what is added to the sum of the rows' losses, of the same shape. A margin is the log odds of
# the favourable label less those of the threshold: above 0 the decision is favourable.
MarginSlopes = Callable[[NDArray[np.intp], NDArray[np.float64]], NDArray[np.float64]]


class PenalisedTrainer(Protocol[M]):
    """A network that can go on learning its training examples with something added to the loss."""

    @property
    def training_size(self) -> int:
        """Number of training examples."""
        ...

    def margins(self) -> NDArray[np.float64]:
        """Return the margins of the training examples by the network as it is; shape (n,)."""
        ...

    def go_on(self, model: M | None, added: MarginSlopes, generator: np.random.Generator) -> M:
        """Train a network of this kind a few epochs further; None: the network as it is.

        What it begins with is not changed. `added` is asked about the training examples in parts.
        """
        ...


def is_penalised_trainer(trainer: object) -> bool:
    """Return whether something has what a :class:`PenalisedTrainer` has."""
    return all(hasattr(trainer, name) for name in ("training_size", "margins", "go_on"))
