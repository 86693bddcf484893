"""What stands in an ONNX file besides operators: constants, attributes and the input's shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network.parts import MAXIMUM_NUMBERS, MAXIMUM_WIDTH, too_large
from testsgd.errors import ModelError

# Of TensorProto.DataType: float, int32, int64, string, bool, double.
_TYPES = (1, 6, 7, 8, 9, 11)


def constant_array(tensor: Any) -> NDArray[Any]:
    """Give a stored tensor as an array.

    Raises
    ------
    ModelError
        If its numbers are in another file, too many, or of a type that is not known.
    """
    from onnx import numpy_helper

    where = f"constant {tensor.name!r}"
    if tensor.data_location == 1:
        raise ModelError(
            "its numbers are in another file", where=where, remedy="store them in the .onnx file"
        )
    if tensor.data_type not in _TYPES:
        raise ModelError(
            f"its numbers are of the type {tensor.data_type}",
            where=where,
            remedy="give a network of float32 or float64",
        )
    if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > MAXIMUM_NUMBERS:
        raise too_large(where)
    return np.asarray(numpy_helper.to_array(tensor))


def input_width(given: Any) -> int:
    """Give how many columns the input has.

    Raises
    ------
    ModelError
        If it is no row of numbers of a fixed width.
    """
    shape = given.type.tensor_type.shape.dim
    sizes = [entry.dim_value if entry.HasField("dim_value") else None for entry in shape]
    if len(sizes) != 2 or sizes[1] is None or sizes[0] not in (None, 0, 1):
        raise ModelError(
            f"the input has the shape {sizes}, not rows of numbers",
            where=f"input {given.name!r}",
            remedy="export it with one input of the shape (None, columns)",
        )
    if not 0 < sizes[1] <= MAXIMUM_WIDTH:
        raise too_large(f"input {given.name!r}")
    return int(sizes[1])


@dataclass(frozen=True)
class Attributes:
    """The attributes of one operator.

    Attributes
    ----------
    stored : dict
        Name to AttributeProto.
    where : str
        The operator.
    """

    stored: dict[str, Any]
    where: str

    def whole(self, name: str, default: int = 0) -> int:
        """Give a whole number."""
        return int(self.stored[name].i) if name in self.stored else default

    def number(self, name: str, default: float) -> float:
        """Give a float32."""
        value = float(self.stored[name].f) if name in self.stored else default
        return float(np.float32(value))

    def text(self, name: str, default: str) -> str:
        """Give a text."""
        return self.stored[name].s.decode("utf-8") if name in self.stored else default

    def floats(self, name: str) -> NDArray[np.float32]:
        """Give numbers; none if the attribute is absent."""
        found = self.stored[name].floats if name in self.stored else []
        return np.array(found, dtype=np.float32)

    def texts(self, name: str) -> tuple[str, ...]:
        """Give texts or whole numbers as texts."""
        if name not in self.stored:
            return ()
        entry = self.stored[name]
        return tuple(item.decode("utf-8") for item in entry.strings) or tuple(
            str(item) for item in entry.ints
        )

    def tensor(self, name: str) -> NDArray[Any]:
        """Give a tensor; a constant may also be a number or numbers."""
        if name in self.stored:
            return constant_array(self.stored[name].t)
        for other, kind in (("value_float", "f"), ("value_floats", "floats")):
            if other in self.stored:
                return np.array(getattr(self.stored[other], kind), dtype=np.float32)
        for other, kind in (("value_int", "i"), ("value_ints", "ints")):
            if other in self.stored:
                return np.array(getattr(self.stored[other], kind), dtype=np.int64)
        raise ModelError(
            "the constant is of a kind that is not known",
            where=self.where,
            remedy="give a sound file",
        )


def attributes_of(entry: Any, where: str) -> Attributes:
    """Collect an operator's attributes, of which none may hold a graph."""
    for attribute in entry.attribute:
        if attribute.HasField("g") or len(attribute.graphs):
            raise ModelError(
                "the operator holds graphs of its own", where=where, remedy="export it without"
            )
    return Attributes({attribute.name: attribute for attribute in entry.attribute}, where)
