"""How many weights the layers of a Keras file declare, and whether the file claims many more.

The layers of ``config.json`` say which weights there are. A file of weights that unpacks to far
more than these, and than what an optimiser keeps beside them, is refused before it is unpacked; so
is one that holds far fewer, as Keras would make room for all that are declared. The usual layers
are counted here, without Keras; Keras counts all others, and makes no array for it.
"""

from __future__ import annotations

import errno
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.io import TooLargeError, member_size

# What goes into a layer and comes out of it, without the rows; None for what is not fixed.
_Shape: TypeAlias = tuple[int | None, ...]
# The weights of a layer, and the shape that comes out of it.
_Declared: TypeAlias = tuple[int, _Shape]

# The weights themselves, and what optimisers keep of each: at most three moments and a sum.
_COPIES = 5
# Bytes of the widest numbers.
_WIDEST = 8
# What stands beside the weights: names and tables of the file, counters, seeds.
_BESIDE_BYTES = 8 * 2**20
_BESIDE_NUMBERS = _BESIDE_BYTES // _WIDEST


def declared_weights(configuration: Any) -> int | None:
    """Return how many numbers the layers of a model declare as their weights.

    Parameters
    ----------
    configuration : dict
        What ``config.json`` of a ``.keras`` file holds.

    Returns
    -------
    int or None
        None if it is not known: of a layer of another kind, of a model that is neither sequential
        nor functional, or of a configuration that is damaged.

    Examples
    --------
    >>> from testsgd.models.declared_weights import declared_weights
    >>> input_layer = {"class_name": "InputLayer", "config": {"batch_shape": [None, 3]}}
    >>> dense = {"class_name": "Dense", "config": {"units": 2}}
    >>> network = {"class_name": "Sequential", "config": {"layers": [input_layer, dense]}}
    >>> declared_weights(network)
    8
    """
    try:
        config = configuration["config"]
        if configuration["class_name"] in _FUNCTIONAL:
            return _weights_of_graph(config["layers"])
        if configuration["class_name"] != "Sequential":
            return None
        # Keras 2.0 to 2.2 wrote a bare list.
        layers = config["layers"] if isinstance(config, dict) else config
        return _weights_of(layers)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError):
        return None


def count_by_keras(configuration: Any, keras: Any) -> int:
    """Return how many numbers a model of any layers of Keras declares as its weights.

    Parameters
    ----------
    configuration : dict
        What ``config.json`` of a ``.keras`` file holds, with parts of Keras only.
    keras : module
        The package of that name. It builds the model without a value for any weight, so that no
        room is made for them.

    Returns
    -------
    int

    Raises
    ------
    Exception
        Whatever Keras raises if it cannot build the model.
    """
    counts: list[int] = []
    errors: list[Exception] = []

    # Weights get no values inside a stateless scope, but all of them where it ends. A scope belongs
    # to its thread: this one ends with the thread, and is never left.
    def build() -> None:
        keras.StatelessScope().__enter__()
        try:
            model = keras.saving.deserialize_keras_object({**configuration, "compile_config": None})
            counts.append(sum(math.prod(variable.shape) for variable in model.variables))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return counts[0]


def check_declared_weights(path: str | Path, declared: int | None, member: str) -> None:
    """Raise if the weights in an archive unpack to far more than its layers declare.

    Parameters
    ----------
    path : str or pathlib.Path
        A ``.keras`` file.
    declared : int or None
        How many numbers its layers declare. If that is not known, nothing is checked.
    member : str
        The member with the weights. It is not unpacked.

    Raises
    ------
    TooLargeError
        If it does.
    KeyError
        If there is no such member.
    """
    if declared is None:
        return
    size = member_size(path, member)
    if size > declared * _COPIES * _WIDEST + _BESIDE_BYTES:
        raise TooLargeError(
            errno.EFBIG,
            f"{member} unpacks to {size / 2**20:,.0f} MiB, and its layers declare only "
            f"{declared:,} weights",
            str(path),
        )


def check_stored_weights(path: str | Path, declared: int | None, file: Any) -> None:
    """Raise if the arrays of an HDF5 file claim far more or fewer numbers than the layers declare.

    Parameters
    ----------
    path : str or pathlib.Path
        The ``.keras`` file, for the error.
    declared : int or None
        How many numbers its layers declare. If that is not known, nothing is checked.
    file : h5py.File
        The weights, open. No array is read.

    Raises
    ------
    TooLargeError
        If they do: arrays are stored compressed, or not at all where nothing was written, so that
        their shapes say nothing of the size of the file. And room is made for all that is declared,
        whatever is stored.
    """
    if declared is None:
        return
    claimed = 0

    # Each object is visited once, along no link into another file.
    def add(name: str, stored: Any) -> None:
        nonlocal claimed
        claimed += getattr(stored, "size", 0) or 0

    file.visititems(add)
    if claimed > declared * _COPIES + _BESIDE_NUMBERS:
        raise TooLargeError(
            errno.EFBIG,
            f"its arrays claim {claimed:,} numbers, and its layers declare only {declared:,} "
            "weights",
            str(path),
        )
    # Some of what is declared is an upper limit: at most twice what there is.
    if declared > 2 * claimed + _BESIDE_NUMBERS:
        raise TooLargeError(
            errno.EFBIG,
            f"its layers declare {declared:,} weights, and its arrays hold {claimed:,} numbers",
            str(path),
        )


def _weights_of(layers: Sequence[Mapping[str, Any]]) -> int | None:
    total = 0
    shape: _Shape | None = None
    for layer in layers:
        kind, config = layer["class_name"], layer["config"]
        given = config.get("batch_shape") or config.get("batch_input_shape")
        if given is not None and shape is None:
            shape = _without_rows(given)
        if kind == "InputLayer":
            continue
        if shape is None:
            built = layer.get("build_config") or {}
            shape = _without_rows(built["input_shape"])
        declared = _of_layer(kind, config, shape)
        if declared is None:
            return None
        weights, shape = declared
        total += weights
    return total


def _weights_of_graph(layers: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the weights of layers each of which says what shape goes into it."""
    total = 0
    for layer in layers:
        kind, config = layer["class_name"], layer["config"]
        if kind == "InputLayer" or kind in _MERGING:
            continue
        if kind == "Sequential" or kind in _FUNCTIONAL:
            inner = declared_weights(layer)
            declared: _Declared | None = None if inner is None else (inner, ())
        else:
            declared = _of_layer(kind, config, _without_rows(_shape_into(layer)))
        if declared is None:
            return None
        total += declared[0]
    return total


def _shape_into(layer: Mapping[str, Any]) -> Sequence[int | None]:
    """Return the shape that goes into a layer, as its file says."""
    built = layer.get("build_config") or {}
    if "input_shape" in built:
        shape: Sequence[int | None] = built["input_shape"]
    else:
        shape = layer["inbound_nodes"][0]["args"][0]["config"]["shape"]
    return shape


def _without_rows(shape: Sequence[int | None]) -> _Shape:
    return tuple(None if width is None else _whole(width) for width in shape[1:])


def _of_layer(kind: str, config: Mapping[str, Any], shape: _Shape) -> _Declared | None:
    """Return the weights of a layer and what comes out of it; None of another kind of layer."""
    if kind == "Bidirectional":
        return _bidirectional(config, shape)
    known = _KINDS.get(kind)
    return None if known is None else known(config, shape)


def _whole(value: Any) -> int:
    """Return a number of units, of words or the like; a ValueError if it cannot be one."""
    if isinstance(value, (list, tuple)):
        [value] = value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(value)
    return value


def _last(shape: _Shape) -> int:
    width = shape[-1]
    if width is None:
        raise ValueError(shape)
    return width


def _bias(config: Mapping[str, Any], width: int) -> int:
    return width if config.get("use_bias", True) else 0


def _dense(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    units = _whole(config["units"])
    return _last(shape) * units + _bias(config, units), (*shape[:-1], units)


def _embedding(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    words, width = _whole(config["input_dim"]), _whole(config["output_dim"])
    return words * width, (*shape, width)


def _convolution(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    filters, kernel = _whole(config["filters"]), _whole(config["kernel_size"])
    groups = _whole(config.get("groups", 1))
    weights = kernel * (_last(shape) // groups) * filters + _bias(config, filters)
    # How long it comes out matters to none of these layers but a flat one, which then is not known.
    return weights, (None, filters)


def _pooling(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    return 0, (None, _last(shape))


def _global_pooling(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    return 0, (_last(shape),)


def _recurrent(gates: int, biases: int = 1) -> Callable[[Mapping[str, Any], _Shape], _Declared]:
    """Return the rule of a recurrent layer whose units have `gates` gates."""

    def declared(config: Mapping[str, Any], shape: _Shape) -> _Declared:
        units = _whole(config["units"])
        rows = _last(shape) + units
        weights = gates * (rows * units + biases * _bias(config, units))
        length = shape[:-1] if config.get("return_sequences") else ()
        return weights, (*length, units)

    return declared


def _bidirectional(config: Mapping[str, Any], shape: _Shape) -> _Declared | None:
    forward = config["layer"]
    backward = config.get("backward_layer") or forward
    total = 0
    for layer in (forward, backward):
        declared = _of_layer(layer["class_name"], layer["config"], shape)
        if declared is None:
            return None
        weights, out = declared
        total += weights
    both = 2 if config.get("merge_mode", "concat") == "concat" else 1
    return total, (*out[:-1], _last(out) * both)


def _normalising(arrays: int) -> Callable[[Mapping[str, Any], _Shape], _Declared]:
    """Return the rule of a layer that keeps at most `arrays` numbers of each column."""

    def declared(config: Mapping[str, Any], shape: _Shape) -> _Declared:
        axes = config.get("axis", -1)
        last = (-1, len(shape), [-1], [len(shape)], (-1,))
        width = _last(shape) if axes in last else _flat(shape)
        return arrays * width + 1, shape

    return declared


def _flat(shape: _Shape) -> int:
    if any(width is None for width in shape):
        raise ValueError(shape)
    return math.prod(width or 0 for width in shape)


def _flatten(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    return 0, (_flat(shape),)


def _unchanged(config: Mapping[str, Any], shape: _Shape) -> _Declared:
    return 0, shape


_FUNCTIONAL = ("Functional", "Model")
# Layers without weights, of several inputs.
_MERGING = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")

_KINDS: dict[str, Callable[[Mapping[str, Any], _Shape], _Declared]] = {
    "Dense": _dense,
    "Embedding": _embedding,
    "Conv1D": _convolution,
    "LSTM": _recurrent(4),
    # Its biases may be kept for inputs and for states.
    "GRU": _recurrent(3, biases=2),
    "SimpleRNN": _recurrent(1),
    "BatchNormalization": _normalising(4),
    "LayerNormalization": _normalising(2),
    "Normalization": _normalising(2),
    "MaxPooling1D": _pooling,
    "AveragePooling1D": _pooling,
    "GlobalMaxPooling1D": _global_pooling,
    "GlobalAveragePooling1D": _global_pooling,
    "Flatten": _flatten,
    "Activation": _unchanged,
    "ReLU": _unchanged,
    "LeakyReLU": _unchanged,
    "Softmax": _unchanged,
    "Rescaling": _unchanged,
    "Dropout": _unchanged,
    "SpatialDropout1D": _unchanged,
    "GaussianNoise": _unchanged,
    "GaussianDropout": _unchanged,
}
