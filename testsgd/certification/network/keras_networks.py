"""Keras networks: objects, ``.h5`` of Keras 2 and 3, and ``.keras`` archives.

Nothing in a file is run or unpickled, and no TensorFlow is loaded. A ``Lambda`` layer, which holds
code, is refused as any other layer that is not known.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network import parts
from testsgd.certification.network.feedforward import Activation, Precision, Step
from testsgd.errors import ModelError, TestSGDError
from testsgd.io import TooLargeError, check_by_trial, is_archive, loads_json, read_member
from testsgd.models.declared_weights import (
    check_declared_weights,
    check_stored_weights,
    declared_weights,
)

# A layer's arrays, in Keras' order.
_Stored: TypeAlias = Sequence[NDArray[np.generic]]
# From a layer's name to its arrays.
Arrays: TypeAlias = Callable[[str], _Stored]

_WEIGHTS = "model.weights.h5"
_MAXIMUM_CONFIGURATION = 16 * 2**20
_MAXIMUM_WEIGHTS_FILE = 2**30
# All that is in a file itself is read once: the library does not come back from some damages.
_HDF5_TRIAL = """
import io
import h5py
file = h5py.File(io.BytesIO(sys.stdin.buffer.read()) if len(sys.argv) < 2 else sys.argv[1], "r")
seen = set()
def visit(item):
    key = h5py.h5o.get_info(item.id).addr
    if key in seen:
        return
    seen.add(key)
    try:
        dict(item.attrs)
    except Exception:
        pass
    if isinstance(item, h5py.Group):
        for name in item:
            try:
                if isinstance(item.get(name, getlink=True), h5py.HardLink):
                    visit(item[name])
            except Exception:
                pass
    elif not item.is_virtual and not item.external and item.size and item.size <= 50_000_000:
        item[()]
visit(file["/"])
"""


def read_keras_file(path: Path) -> parts.ReadNetwork:
    """Return the network of a ``.h5``, ``.hdf5`` or ``.keras`` file as parts."""
    return _read_archive(path) if is_archive(path) else _read_h5(path)


def _read_archive(path: Path) -> parts.ReadNetwork:
    import h5py

    configuration = loads_json(_member(path, "config.json", _MAXIMUM_CONFIGURATION))
    declared = declared_weights(configuration)
    with _saying_what_is_too_large(path):
        check_declared_weights(path, declared, _WEIGHTS)
    stored = _member(path, _WEIGHTS, _MAXIMUM_WEIGHTS_FILE)
    _try_hdf5([], content=stored, size=len(stored))
    with h5py.File(io.BytesIO(stored), "r") as file:
        with _saying_what_is_too_large(path):
            check_stored_weights(path, declared, file)
        return keras_network(configuration, _by_class(_inside(file, "layers"), configuration))


@contextmanager
def _saying_what_is_too_large(path: Path) -> Iterator[None]:
    try:
        yield
    except TooLargeError as error:
        raise ModelError(
            f"the network is not read ({error.strerror})",
            where=str(path),
            remedy="save the network with Keras again",
        ) from error


def _try_hdf5(arguments: Sequence[str], *, content: bytes = b"", size: int) -> None:
    """Read a file of `size` bytes in a child process; a sound one takes far less time."""
    longer = size / 10e6
    check_by_trial(
        _HDF5_TRIAL,
        arguments,
        content=content,
        seconds=30 + longer,
        processor_seconds=3 + longer,
    )


def _member(path: Path, name: str, maximum: int) -> bytes:
    """Return a member of the archive; a ModelError if it is too large."""
    try:
        return read_member(path, name, at_most=maximum)
    except TooLargeError as error:
        raise parts.too_large(name) from error


def _by_class(layers: Any, configuration: Any) -> Arrays:
    """Find weights in an archive: groups are named after the classes, counted.

    Newer Keras also writes a layer's own name beside its weights; then that is looked for.
    """
    named = {}
    for key in layers:
        group = _inside(layers, key)
        name = _inside(group, "vars").attrs.get("name") if "vars" in group else None
        if name is not None:
            named[_text(name)] = key
    config = configuration["config"]
    counted: dict[str, str] = {}
    counts: dict[str, int] = {}
    for layer in config["layers"]:
        base = _snake_case(layer["class_name"])
        count = counts.get(base, 0)
        counts[base] = count + 1
        counted[layer["config"]["name"]] = f"{base}_{count}" if count else base

    def arrays(name: str) -> _Stored:
        key = named.get(name) if named else counted[name]
        if key is None:
            return []
        group = _inside(layers, f"{key}/vars")
        return [_array(group, str(n), name) for n in range(len(group))]

    return arrays


def _snake_case(name: str) -> str:
    """Turn a class's name into that of a group, as Keras does."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _read_h5(path: Path) -> parts.ReadNetwork:
    import h5py

    _try_hdf5([str(path)], size=path.stat().st_size)
    with h5py.File(path, "r") as file:
        stored = file.attrs.get("model_config")
        if stored is None or "model_weights" not in file:
            raise ModelError(
                "the file holds no model, or weights only",
                where="model_config",
                remedy="save the whole model with model.save",
            )
        configuration = loads_json(_text(stored))
        return keras_network(configuration, _by_name(_inside(file, "model_weights")))


def _by_name(weights: Any) -> Arrays:
    """Find weights in a .h5 file, where each layer lists the places of its own."""

    def arrays(name: str) -> _Stored:
        # A layer's name may hold a slash, and is one place below each other then.
        group = _inside(weights, name)
        return [_array(group, _text(key), name) for key in _listed(group)]

    return arrays


def _listed(group: Any) -> list[Any]:
    """Return the attribute weight_names, which Keras cuts into chunks if it is long."""
    if "weight_names" in group.attrs:
        return list(group.attrs["weight_names"])
    names: list[Any] = []
    while f"weight_names{len(names)}" in group.attrs:
        names.extend(group.attrs[f"weight_names{len(names)}"])
    return names


def _inside(group: Any, key: str) -> Any:
    """Return an object of a file, along no link that could lead into another file."""
    import h5py

    for part in key.split("/"):
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            raise parts.damaged(f"the weights are not in the file, or not at {key!r}", "model")
        group = group[part]
    return group


def _array(group: Any, key: str, name: str) -> NDArray[np.generic]:
    import h5py

    stored = _inside(group, key)
    if not isinstance(stored, h5py.Dataset) or stored.is_virtual or stored.external:
        # External storage would make a file read others, of its author's choosing.
        raise ModelError(
            "the weights are not in the file", where=f"layer {name!r}", remedy="give a sound file"
        )
    if stored.size is None or stored.size > parts.MAXIMUM_NUMBERS:
        raise parts.too_large(f"layer {name!r}")
    return np.asarray(stored[()])


def _text(given: Any) -> str:
    return given.decode("utf-8") if isinstance(given, bytes) else str(given)


def _is_own(kind: type) -> bool:
    return str(kind.__module__).split(".")[0] in {"keras", "tf_keras", "tensorflow"}


def is_keras(source: Any) -> bool:
    """Return whether an object looks like a model of Keras, without importing it."""
    asked = all(callable(getattr(source, name, None)) for name in ("to_json", "get_layer"))
    return asked and any(map(_is_own, type(source).__mro__))


def read_keras_object(source: Any) -> parts.ReadNetwork:
    """Return a Sequential or Functional model as parts."""
    for part in (source, *getattr(source, "layers", ())):
        if not _is_own(type(part)):
            raise ModelError(
                f"a {type(part).__name__} is a class of your own, and may compute anything",
                where="model" if part is source else f"layer {part.name!r}",
                remedy="give a Sequential or Functional model of Keras' own layers",
            )

    def arrays(name: str) -> _Stored:
        return [np.asarray(array) for array in source.get_layer(name).get_weights()]

    try:
        return keras_network(loads_json(source.to_json()), arrays)
    except TestSGDError:
        raise
    except Exception as error:
        # What Keras raises at models that are not built, or cannot be written as JSON.
        raise ModelError(
            f"the Keras model cannot be read ({type(error).__name__}: {error})",
            where="model",
            remedy="give a built Sequential or Functional model",
        ) from error


def layer_chain(configuration: Any) -> list[dict[str, Any]]:
    """Return the layers of a Sequential or Functional model in the order of computing."""
    kind = configuration["class_name"]
    config = configuration["config"]
    if kind == "Sequential":
        # Keras 2.0 to 2.2 wrote a bare list.
        layers = config["layers"] if isinstance(config, dict) else config
        return [dict(layer) for layer in layers]
    if kind not in ("Functional", "Model"):
        raise ModelError(
            f"a Keras model of the class {kind!r} cannot be read",
            where="model",
            remedy="give a Sequential or Functional model of fully connected layers",
        )
    remaining = {str(layer["name"]): dict(layer) for layer in config["layers"]}
    (first,) = _named(config["input_layers"], "inputs")
    (last,) = _named(config["output_layers"], "outputs")
    before: dict[str, str] = {}
    for name, layer in remaining.items():
        sources = _sources(layer.get("inbound_nodes") or [])
        if name != first and len(sources) != 1:
            raise ModelError(
                f"it is applied to {len(sources)} other layers, not one",
                where=describe(layer),
                remedy="give a network whose layers follow one another",
            )
        if sources:
            before[name] = sources[0]
    order = [last]
    while order[-1] != first:
        source = before.get(order[-1])
        if source is None or source in order or source not in remaining:
            raise ModelError(
                "its layers do not lead from the input to the output",
                where="model",
                remedy="give a network whose layers follow one another",
            )
        order.append(source)
    return [remaining[name] for name in reversed(order)]


def _named(given: Any, what: str) -> list[str]:
    """Return the names of input or output layers: one triple, or a list of triples."""
    if given and isinstance(given[0], str):
        given = [given]
    names = [str(item[0]) for item in given]
    if len(names) != 1:
        raise ModelError(
            f"the model has {len(names)} {what}, not one",
            where="model",
            remedy="give a network with one input of numbers and one output",
        )
    return names


def _sources(nodes: Sequence[Any]) -> list[str]:
    """Return the layers that a layer is applied to, in the notation of Keras 2 or 3."""
    found: list[str] = []

    def walk(item: Any) -> None:
        if isinstance(item, dict):
            if "keras_history" in item:
                found.append(str(item["keras_history"][0]))
            else:
                for value in item.values():
                    walk(value)
        elif isinstance(item, (list, tuple)):
            if len(item) >= 3 and isinstance(item[0], str) and isinstance(item[1], int):
                found.append(item[0])
            else:
                for value in item:
                    walk(value)

    walk(list(nodes))
    return found


def describe(layer: Mapping[str, Any]) -> str:
    """Name a layer and its class."""
    return f"layer {str(layer['config'].get('name', '?'))!r} ({layer['class_name']})"


_REMEDY = (
    "give a network of Dense layers with linear, relu, leaky_relu, sigmoid or tanh units "
    "(softmax last), ReLU, LeakyReLU, Activation, Dropout, Flatten, Normalization, Rescaling "
    "and BatchNormalization"
)
_FUNCTIONS = get_args(Activation)
# When a network is asked, not trained, and its input is flat.
_WITHOUT_EFFECT = ("InputLayer", "Dropout", "GaussianNoise", "GaussianDropout", "Flatten")
# The slope of keras.activations.leaky_relu where none is given.
_LEAKY_FUNCTION = 0.2


def keras_network(configuration: Any, arrays: Arrays) -> parts.ReadNetwork:
    """Return a network as parts, of its ``class_name`` and ``config`` and its weights by layer."""
    layers = layer_chain(configuration)
    if len(layers) > parts.MAXIMUM_LAYERS:
        raise ModelError(f"there are more than {parts.MAXIMUM_LAYERS} layers", where="model")
    width, precision = _input_width(layers), _precision(layers)
    chain: list[parts.Part] = []
    total = 0
    for layer in layers:
        for part in _parts(layer, arrays, precision):
            total += part.weights.size if isinstance(part, parts.Affine) else 0
            if total > parts.MAXIMUM_NUMBERS:
                raise parts.too_large("model")
            slope = part.negative_slope if isinstance(part, parts.Activate) else 0.0
            # TensorFlow and other backends would make different numbers of it.
            if precision == "float64" and float(np.float32(slope)) != slope:
                raise ModelError(
                    f"TensorFlow rounds its slope {slope} to float32, the network is of float64",
                    where=part.where,
                    remedy="give a slope such as 0.25",
                )
            chain.append(part)
    return parts.ReadNetwork(width, tuple(chain), precision, "Keras network")


def _input_width(layers: Sequence[dict[str, Any]]) -> int:
    shape: Any = None
    if layers:
        config = layers[0]["config"]
        shape = config.get("batch_shape") or config.get("batch_input_shape")
        if shape is None and "input_dim" in config:
            shape = [None, config["input_dim"]]
        if shape is None:
            built = layers[0].get("build_config") or {}
            shape = built.get("input_shape")
    if not isinstance(shape, (list, tuple)) or len(shape) != 2 or not isinstance(shape[1], int):
        raise ModelError(
            f"the network takes inputs of the shape {shape}, not a row of numbers",
            where="model",
            remedy="give a network with one input of a fixed width",
        )
    if not 0 < shape[1] <= parts.MAXIMUM_WIDTH:
        raise parts.too_large("model")
    return int(shape[1])


def _precision(layers: Sequence[dict[str, Any]]) -> Precision:
    """Return the one type that all layers compute in."""
    found = set()
    for layer in layers:
        if layer["class_name"] == "InputLayer":
            continue
        kind = layer["config"].get("dtype", "float32") or "float32"
        if isinstance(kind, dict):
            kind = kind.get("config", {}).get("name", "?")
        if kind not in ("float32", "float64"):
            raise ModelError(
                f"it computes in {kind!r}",
                where=describe(layer),
                remedy="give a network of float32 or float64",
            )
        found.add(kind)
    if len(found) > 1:
        raise ModelError(
            "some layers compute in float32 and others in float64",
            where="model",
            remedy="give a network of one type",
        )
    return "float64" if "float64" in found else "float32"


def _parts(layer: dict[str, Any], arrays: Arrays, precision: Precision) -> list[parts.Part]:
    where, kind, config = describe(layer), layer["class_name"], layer["config"]

    def stored() -> _Stored:
        return [np.asarray(array) for array in arrays(str(config["name"]))]

    if layer.get("registered_name") not in (None, kind, f"keras>{kind}"):
        raise _unknown(where)
    if kind in _WITHOUT_EFFECT:
        return []
    if kind == "Dense":
        return _dense(where, config, stored())
    if kind == "Activation":
        return _activation(where, config["activation"])
    if kind == "ReLU":
        if config.get("max_value") is not None or config.get("threshold"):
            raise ModelError(
                "it has a max_value or a threshold", where=where, remedy="give a plain ReLU"
            )
        return _leaky(where, config.get("negative_slope") or 0.0)
    if kind == "LeakyReLU":
        slope = config.get("negative_slope", config.get("alpha", 0.3))
        return _leaky(where, slope)
    if kind == "Softmax":
        if config.get("axis", -1) not in (-1, 1):
            raise ModelError("its axis is not the last", where=where, remedy=_REMEDY)
        return [parts.Softmax(where)]
    if kind == "Rescaling":
        return [_rescaling(where, config, precision)]
    if kind == "Normalization":
        return [_normalization(where, config, stored(), precision)]
    if kind in ("BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2"):
        return [_batch_normalization(where, config, stored(), precision)]
    raise _unknown(where)


def _unknown(where: str) -> ModelError:
    return ModelError("this layer cannot be certified", where=where, remedy=_REMEDY)


def _dense(where: str, config: Mapping[str, Any], stored: _Stored) -> list[parts.Part]:
    if config.get("lora_rank") or config.get("quantization_config"):
        raise ModelError("it is quantised or has LoRA weights", where=where, remedy=_REMEDY)
    wanted = 2 if config.get("use_bias", True) else 1
    if len(stored) != wanted:
        raise parts.damaged(f"there are {len(stored)} arrays of weights, not {wanted}", where)
    part = parts.affine(where, stored[0], stored[1] if wanted == 2 else None)
    return [part, *_activation(where, config.get("activation", "linear"))]


def _activation(where: str, given: Any) -> list[parts.Part]:
    if given is None:
        return []
    config: Mapping[str, Any] = {}
    if isinstance(given, dict):
        # A layer used as a function, such as keras.layers.LeakyReLU(0.1).
        nested = given.get("config")
        config = nested if isinstance(nested, dict) else {}
        kind = given.get("class_name")
        if kind == "function":
            given = given.get("config")
        elif kind in ("LeakyReLU", "ReLU"):
            layer = {"class_name": kind, "config": {"name": "activation", **config}}
            return _parts(layer, lambda _: [], "float32")
        else:
            given = kind
    if given == "softmax":
        return [parts.Softmax(where)]
    if given not in _FUNCTIONS:
        raise ModelError(
            f"the activation {given!r} cannot be certified", where=where, remedy=_REMEDY
        )
    slope = _LEAKY_FUNCTION if given == "leaky_relu" else 0.0
    return [parts.Activate(where, given, slope)]


def _leaky(where: str, slope: Any) -> list[parts.Part]:
    if isinstance(slope, dict):  # Keras 2 wrote numpy scalars so.
        slope = slope.get("config", {}).get("value", slope.get("value"))
    if not isinstance(slope, (int, float)) or not 0 <= slope <= 1:
        raise ModelError(
            f"its slope is {slope}", where=where, remedy="give a slope between 0 and 1"
        )
    if slope == 0:
        return [parts.Activate(where, "relu")]
    return [parts.Activate(where, "leaky_relu", float(slope))]


def _rescaling(where: str, config: Mapping[str, Any], precision: Precision) -> parts.Scaling:
    # x * scale + offset: both are rounded to the layer's type, then two operations.
    scale = np.atleast_1d(np.asarray(config["scale"], dtype=precision))
    offset = np.atleast_1d(np.asarray(config["offset"], dtype=precision))
    steps = (Step("multiply", scale), Step("add", offset))
    return parts.scaling(where, scale, offset, steps, 4, precision)


def _normalization(
    where: str, config: Mapping[str, Any], stored: _Stored, precision: Precision
) -> parts.Scaling:
    if config.get("invert"):
        raise ModelError("it is inverted", where=where, remedy=_REMEDY)
    if config.get("axis", -1) not in (-1, 1, None, [-1], [1], (-1,), (1,)):
        raise ModelError("its axis is not the last", where=where, remedy=_REMEDY)
    given = [config.get("mean"), config.get("variance")]
    mean, variance = given if None not in given else stored[:2]
    # Keras divides by max(sqrt(variance), epsilon).
    own_centre = np.ravel(np.asarray(mean, dtype=precision))
    own_divisor = np.maximum(np.sqrt(np.ravel(np.asarray(variance, dtype=precision))), 1e-7)
    own_divisor = own_divisor.astype(precision)
    steps = (Step("subtract", own_centre), Step("divide", own_divisor))
    centre, divisor = own_centre.astype(np.float64), own_divisor.astype(np.float64)
    # Root, epsilon, subtraction, quotient (perhaps as a product with the reciprocal), and two of
    # float64 here.
    return parts.scaling(where, 1 / divisor, -centre / divisor, steps, 7, precision)


def _batch_normalization(
    where: str, config: Mapping[str, Any], stored: _Stored, precision: Precision
) -> parts.Scaling:
    if config.get("renorm"):
        raise ModelError("it renormalises", where=where, remedy=_REMEDY)
    left = list(stored)
    gamma = left.pop(0) if config.get("scale", True) else np.ones(1)
    beta = left.pop(0) if config.get("center", True) else np.zeros(1)
    return parts.batch_scaling(where, [gamma, beta, *left], float(config["epsilon"]), precision)
