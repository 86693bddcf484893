"""One function for each attribute, as a specification names them with ``classify``.

``benchmarks.generative_experiments.portraits.classifiers:sex`` takes the bytes of a PNG file, and
returns the value's name, or None where it is unreadable. The committed network reads.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from benchmarks.generative_experiments.portraits.attributes import VALUES
from benchmarks.generative_experiments.portraits.reading import AttributeReader

# Below this probability a value is unreadable.
CONFIDENCE = 0.5
_LOCK = threading.Lock()


def sex(picture: bytes) -> str | None:
    """Return the value of sex that a portrait shows."""
    return _value(picture, "sex")


def skin(picture: bytes) -> str | None:
    """Return the skin tone that a portrait shows."""
    return _value(picture, "skin")


def age(picture: bytes) -> str | None:
    """Return the age that a portrait shows."""
    return _value(picture, "age")


def clothes(picture: bytes) -> str | None:
    """Return the clothes that a portrait shows."""
    return _value(picture, "clothes")


def _value(picture: bytes, name: str) -> str | None:
    with _LOCK:
        number = _labels(picture)[name]
    return VALUES[name][number - 1] if number else None


@lru_cache(maxsize=1)
def _reader() -> AttributeReader:
    return AttributeReader.load(confidence=CONFIDENCE)


# The attributes of one picture are asked for one after the other.
@lru_cache(maxsize=16)
def _labels(picture: bytes) -> dict[str, int]:
    return {name: int(numbers[0]) for name, numbers in _reader().labels([picture]).items()}
