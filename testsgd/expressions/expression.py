"""An expression: its text, its tree, and what it says of events and rows."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ExpressionError
from testsgd.expressions.evaluation import (
    Holds,
    compiled,
    kinds_of_values,
    mask_of,
    unnamed_text,
)
from testsgd.expressions.nodes import Junction, Membership, Negation, Node, Ordering
from testsgd.expressions.syntax import read, shown

if TYPE_CHECKING:
    import pandas as pd


# Comparisons that are made at most to find out whether an expression can hold.
_MOST_TRIED = 20_000


@dataclass(frozen=True)
class Expression:
    """A condition on named values, as :func:`parse` reads it.

    Attributes
    ----------
    text : str
        As it was written.
    root : Ordering, Membership, Negation or Junction
        The tree.

    Examples
    --------
    >>> young = parse("sex = female and 18 <= age < 25")
    >>> young.names
    ('sex', 'age')
    >>> young.holds({"sex": "female", "age": 20}), young.holds({"sex": "female"})
    (True, False)
    """

    text: str
    root: Node

    def __reduce__(self) -> tuple[Any, ...]:
        # Functions that were made of it do not travel.
        return type(self), (self.text, self.root)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that it is about, in their order."""
        return tuple(dict.fromkeys(comparison.name for comparison in self._comparisons()))

    @cached_property
    def asks_for_missing(self) -> bool:
        """Whether some comparison holds where there is no value, as ``age = missing``."""
        return any(
            isinstance(comparison, Membership) and comparison.among and None in comparison.values
            for comparison in self._comparisons()
        )

    def can_hold(self, *, known: bool = False, but: Sequence[Expression] = ()) -> bool:
        """Return whether it holds for some values, as far as trying them out finds out.

        Each name is given a value of every kind that the comparisons tell apart.

        Parameters
        ----------
        known : bool
            Whether at least one value must not be missing.
        but : sequence of Expression
            Others that must not hold for these values.

        Returns
        -------
        bool
            False only if it cannot; True as well if there are too many values to try.

        Examples
        --------
        >>> parse("age > 5 and age < 3").can_hold(), parse("age = missing").can_hold(known=True)
        (False, False)
        >>> parse("age > 9").can_hold(but=[parse("age > 5")])
        False
        """
        compared = [item for one in (self, *but) for item in one._comparisons()]
        try:
            values = {item.name: kinds_of_values(item.name, compared) for item in compared}
        except OverflowError:  # a number that no float is near to
            return True
        if len(compared) * math.prod(map(len, values.values())) > _MOST_TRIED:
            return True
        for chosen in itertools.product(*values.values()):
            tried = dict(zip(values, chosen, strict=True))
            if known and not any(value is not None for value in chosen):
                continue
            with contextlib.suppress(ExpressionError):  # a text that is compared by size
                if self.holds(tried) and not any(one.holds(tried) for one in but):
                    return True
        return False

    def unnamed_text(self, name: str, value: Any) -> str | None:
        """Return the text of a value under a name, if no comparison names the value.

        Parameters
        ----------
        name : str
        value : object

        Returns
        -------
        str or None
            None also if the value is missing, or compared by size.

        Examples
        --------
        >>> decided = parse("outcome in {yes, 1}")
        >>> decided.unnamed_text("outcome", "maybe"), decided.unnamed_text("outcome", "1")
        ('maybe', None)
        """
        return unnamed_text(value, [item for item in self._comparisons() if item.name == name])

    def _comparisons(self) -> Iterator[Ordering | Membership]:
        """Yield the comparisons that it is made of, in their order."""
        open_nodes: list[Node] = [self.root]
        while open_nodes:
            node = open_nodes.pop()
            if isinstance(node, Junction):
                open_nodes += reversed(node.parts)
            elif isinstance(node, Negation):
                open_nodes.append(node.part)
            else:
                yield node

    @cached_property
    def holds(self) -> Holds:
        """A function that says whether it holds for a mapping of names to values.

        A value that is absent, None, not a number or an empty text is missing: a comparison with
        it is false, but for ``= missing``. The function raises an ExpressionError where a text is
        compared by size.
        """
        return compiled(self.root)

    def mask(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return for which rows of a data frame it holds, as :attr:`holds` says of each.

        Parameters
        ----------
        frame : pandas.DataFrame
            A column a name; a column that is not there is an error.

        Returns
        -------
        numpy.ndarray of bool, shape (n,)

        Raises
        ------
        ExpressionError
            If a column is not there, or a text is compared by size.

        Examples
        --------
        >>> import pandas as pd
        >>> parse("age >= 40 or age = missing").mask(pd.DataFrame({"age": [39, 40, None]})).tolist()
        [False, True, True]
        """
        columns = list(map(str, frame.columns))
        for name in self.names:
            if name not in columns:
                raise ExpressionError(
                    f"there is no column {name!r}",
                    where=shown(self.text),
                    remedy=f"the columns are {_listed(columns)}",
                    name=name,
                )
        return mask_of(self.root, frame)


def parse(text: str) -> Expression:
    """Return the expression that a text is.

    Parameters
    ----------
    text : str
        At most 10,000 characters, with parentheses and ``not`` at most 50 deep.

    Returns
    -------
    Expression

    Raises
    ------
    ExpressionError
        If the text is no expression; says where and what to write.

    Examples
    --------
    >>> parse("marital status in {Never-married, Married spouse absent}").names
    ('marital status',)
    >>> parse("age <")
    Traceback (most recent call last):
    ...
    testsgd.errors.ExpressionError: 'age <', at character 6: a number is missing after '<'; ...
    """
    return Expression(text, read(text))


def _listed(names: list[str], most: int = 20) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
