"""Counting rows of conjunctions by bit sets, as machine code.

A condition is one bit a row, 64 of them in a word. The rows that fulfil several conditions are the
words of all of them, anded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._machine_code import Compiler

compiled = Compiler(Path(__file__).parent)

_ONES = np.uint64(0x5555555555555555)
_TWOS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@compiled.inner
def set_bits(word: Any) -> Any:
    """Return the number of bits that are set in a word; compilers make it one instruction."""
    word = word - ((word >> np.uint64(1)) & _ONES)
    word = (word & _TWOS) + ((word >> np.uint64(2)) & _TWOS)
    word = (word + (word >> np.uint64(4))) & _FOURS
    return (word * _BYTES) >> np.uint64(56)


@compiled
def count_extended(
    conditions: NDArray[np.uint64],
    conjunctions: NDArray[np.int32],
    first: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> None:
    """Count the rows of each conjunction with one more condition, into `counts` (n, conditions).

    `conditions`: shape (conditions, words); `conjunctions`: numbers of conditions, shape (n, k);
    `first`: from which condition on each is extended, shape (n,).
    """
    words = conditions.shape[1]
    both = np.empty(words, dtype=np.uint64)
    for index in range(conjunctions.shape[0]):
        both[:] = conditions[conjunctions[index, 0]]
        for place in range(1, conjunctions.shape[1]):
            both &= conditions[conjunctions[index, place]]
        for condition in range(first[index], conditions.shape[0]):
            total = np.uint64(0)
            for word in range(words):
                total += set_bits(both[word] & conditions[condition, word])
            counts[index, condition] = total


@compiled
def count_within(
    conditions: NDArray[np.uint64],
    conjunctions: NDArray[np.int32],
    rows: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None:
    """Count the chosen rows that fulfil each conjunction, into `counts` (n,).

    `conditions`: shape (conditions, words); `conjunctions`: numbers of conditions, shape (n, k);
    `rows`: the chosen rows, one bit each, shape (words,).
    """
    words = conditions.shape[1]
    for index in range(conjunctions.shape[0]):
        total = np.uint64(0)
        for word in range(words):
            both = rows[word]
            for place in range(conjunctions.shape[1]):
                both &= conditions[conjunctions[index, place], word]
            total += set_bits(both)
        counts[index] = total
