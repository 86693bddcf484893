"""ONNX networks: a graph is followed node by node, and its operators are written as parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network import parts
from testsgd.certification.network.feedforward import Precision, Step
from testsgd.errors import MissingExtraError, ModelError

# Of TensorProto.DataType: float, int32, int64, string, bool, double.
_TYPES = (1, 6, 7, 8, 9, 11)
_CODES: Mapping[Precision, int] = {"float32": 1, "float64": 11}


def _constant_array(tensor: Any) -> NDArray[Any]:
    """Return a stored tensor as an array."""
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
    if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > parts.MAXIMUM_NUMBERS:
        raise parts.too_large(where)
    return np.asarray(numpy_helper.to_array(tensor))


def _attributes_of(entry: Any, where: str) -> dict[str, Any]:
    """Return an operator's attributes by name, of which none may hold a graph."""
    from onnx import helper

    for attribute in entry.attribute:
        if attribute.HasField("g") or len(attribute.graphs):
            raise ModelError(
                "the operator holds graphs of its own", where=where, remedy="export it without"
            )
    return {item.name: helper.get_attribute_value(item) for item in entry.attribute}


def _odd_graph(what: str, remedy: str) -> ModelError:
    return ModelError(what, where="graph", remedy=remedy)


@dataclass(frozen=True)
class Chain:
    """The parts that the network's input has passed, in order, and the columns they give."""

    width: int
    links: tuple[parts.Part, ...] = ()

    def then(self, part: parts.Part, width: int | None = None) -> Chain:
        """Return the chain with one part more."""
        return Chain(self.width if width is None else width, (*self.links, part))


@dataclass(frozen=True)
class Output:
    """A value that operators after the last sums compute; its chain decides.

    Its form is ``"pair"``, one minus a probability and the probability side by side; or
    ``"label"``, the decision.
    """

    chain: Chain
    form: Literal["pair", "label"]
    labels: tuple[str, ...] = ()


Constant = NDArray[Any]
Value = Constant | Chain | Output


@dataclass(frozen=True)
class Node:
    """One operator with its inputs looked up."""

    where: str
    kind: str
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, Any]
    precision: Precision

    def chain(self, position: int = 0) -> Chain:
        """Return an input that is a chain, or raise."""
        value = self.inputs[position]
        if not isinstance(value, Chain):
            raise self.refused("is not applied to the network's sums")
        return value

    def constant(self, position: int) -> Constant:
        """Return an input that is a constant, or raise."""
        value = self.inputs[position] if position < len(self.inputs) else None
        if not isinstance(value, np.ndarray):
            raise self.refused("needs a constant there")
        return value

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return an attribute of numbers; none if it is absent."""
        return np.array(self.attributes.get(name, ()), dtype=np.float32)

    def number(self, name: str, default: float) -> float:
        """Return an attribute that is a float32."""
        return float(np.float32(self.attributes.get(name, default)))

    def refused(self, why: str) -> ModelError:
        """Make the error that this operator cannot be certified."""
        return ModelError(
            f"the operator {why}",
            where=self.where,
            remedy="give a chain of Gemm, MatMul, Add, Sub, Mul, Div, Relu, LeakyRelu, Sigmoid, "
            "Tanh and a last Softmax",
        )


def _apply(node: Node) -> Value:
    """Return what an operator computes from its inputs."""
    first = node.inputs[0] if node.inputs else None
    if node.kind == "Constant":
        return _stored_constant(node)
    if node.kind == "Concat":
        return _probability_pair(node)
    if node.kind not in _OPERATORS:
        raise node.refused("cannot be certified")
    if isinstance(first, Output):
        return _after_decision(node)
    return _OPERATORS[node.kind](node)


def _stored_constant(node: Node) -> Constant:
    """Return a constant: a tensor, a number or numbers."""
    own = node.attributes
    if "value" in own:
        return _constant_array(own["value"])
    kinds = {"value_float": np.float32, "value_int": np.int64}
    for name, value in own.items():
        if kind := kinds.get(name.removesuffix("s")):
            return np.array(value, dtype=kind)
    raise parts.damaged("the constant is of a kind that is not known", node.where)


def _first_output(node: Node) -> Output:
    """Return the first input that is an output, or raise."""
    output = next((value for value in node.inputs if isinstance(value, Output)), None)
    if output is None:
        raise node.refused("joins columns")
    return output


def _probability_pair(node: Node) -> Output:
    """Return one minus a probability and the probability, side by side, of a Concat."""
    first, second = (*node.inputs, None, None)[:2]
    if (
        not isinstance(first, Chain)
        or not isinstance(second, Chain)
        or not parts.is_complement(first.links)
        or first.links[:-1] != second.links
        or second.width != 1
        or len(node.inputs) != 2
        or node.attributes.get("axis", 0) not in (1, -1)
    ):
        raise node.refused("joins something else than one minus a probability to the probability")
    return Output(second, "pair")


def _after_decision(node: Node) -> Output:
    """Return the output of an operator that takes a label, or probabilities side by side."""
    output = _first_output(node)
    if node.kind == "ArgMax" and output.form == "pair":
        return _argmax(node, output.chain)
    if node.kind == "Normalizer" and node.attributes.get("norm", b"MAX") != b"L1":
        raise node.refused("divides probabilities by something else than their sum")
    if node.kind in ("ZipMap", "Normalizer", "Identity", "Cast", "Reshape", "Squeeze"):
        return output
    raise node.refused("comes after the decision")


def _argmax(node: Node, chain: Chain) -> Output:
    if chain.width == 1 and isinstance(node.inputs[0], Chain):
        raise node.refused("takes the largest of one number")
    if node.attributes.get("axis", 0) not in (1, -1) or node.attributes.get("select_last_index", 0):
        raise node.refused("does not take the first largest of each row")
    return Output(chain, "label")


def _gemm(node: Node) -> Value:
    chain, weights = node.chain(), node.constant(1)
    own = node.attributes
    if own.get("alpha", 1) != 1 or own.get("beta", 1) != 1 or own.get("transA"):
        raise node.refused("has alpha, beta or transA")
    weights = weights.T if own.get("transB") else weights
    third = node.inputs[2] if len(node.inputs) > 2 else None
    bias = None if third is None else _row(node, node.constant(2), weights.shape[-1])
    return _dense(node, chain, weights, bias)


def _dense(node: Node, chain: Chain, weights: Constant, bias: Constant | None) -> Chain:
    part = parts.affine(node.where, weights, bias)
    if part.weights.shape[0] != chain.width:
        raise node.refused(f"takes {part.weights.shape[0]} numbers, but is given {chain.width}")
    return chain.then(part, part.weights.shape[1])


def _row(node: Node, constant: Constant, width: int) -> Constant:
    """Return a constant as one number a column."""
    if (
        constant.size not in (1, width)
        or constant.ndim > 2
        or constant.shape[:-1] not in ((), (1,))
    ):
        raise node.refused(f"has a constant of the shape {constant.shape}")
    return np.broadcast_to(constant.ravel(), (width,))


def _chain_and_constant(node: Node) -> tuple[Chain, Constant, bool]:
    """Return the chain and the constant of a binary operator, and whether the chain is first."""
    if isinstance(node.inputs[0], Chain):
        return node.inputs[0], _row(node, node.constant(1), node.inputs[0].width), True
    chain = node.chain(1)
    return chain, _row(node, node.constant(0), chain.width), False


def _scaled(
    node: Node, chain: Chain, steps: list[Step], multiplier: Constant, constant: Constant
) -> Chain:
    roundings = len(steps) + 2
    return chain.then(
        parts.scaling(node.where, multiplier, constant, steps, roundings, node.precision)
    )


def _add(node: Node) -> Value:
    chain, constant, _ = _chain_and_constant(node)
    last = chain.links[-1] if chain.links else None
    if isinstance(last, parts.Affine) and not last.bias.any():
        # MatMul and Add are one layer.
        whole = parts.affine(last.where, last.weights, constant)
        return Chain(chain.width, (*chain.links[:-1], whole))
    return _scaled(node, chain, [Step("add", constant)], np.ones(chain.width), constant)


def _sub(node: Node) -> Value:
    chain, constant, first = _chain_and_constant(node)
    if first:
        return _scaled(node, chain, [Step("subtract", constant)], np.ones(chain.width), -constant)
    minus = -np.ones(chain.width, dtype=constant.dtype)
    return _scaled(node, chain, [Step("multiply", minus), Step("add", constant)], minus, constant)


def _mul(node: Node) -> Value:
    chain, constant, _ = _chain_and_constant(node)
    return _scaled(node, chain, [Step("multiply", constant)], constant, np.zeros(chain.width))


def _div(node: Node) -> Value:
    chain, constant, first = _chain_and_constant(node)
    if not first or not constant.all():
        raise node.refused("divides by the network's sums or by 0")
    inverse = 1 / constant.astype(np.float64)
    return _scaled(node, chain, [Step("divide", constant)], inverse, np.zeros(chain.width))


def _scaler(node: Node) -> Value:
    """Standardise as ai.onnx.ml does: (x - offset) * scale."""
    chain = node.chain()
    offset, scale = (
        np.broadcast_to(node.floats(name), (chain.width,)) for name in ("offset", "scale")
    )
    steps = [Step("subtract", offset), Step("multiply", scale)]
    wide = scale.astype(np.float64)
    return _scaled(node, chain, steps, wide, -offset.astype(np.float64) * wide)


def _batch(node: Node) -> Value:
    chain = node.chain()
    if node.attributes.get("training_mode", 0):
        raise node.refused("is in training mode")
    arrays = [_row(node, node.constant(place), chain.width) for place in range(1, 5)]
    epsilon = node.number("epsilon", 1e-5)
    return chain.then(parts.batch_scaling(node.where, arrays, epsilon, node.precision))


def _leaky(node: Node) -> Value:
    slope = node.number("alpha", 0.01)
    if not 0 <= slope <= 1:
        raise node.refused(f"has the slope {slope}")
    return node.chain().then(parts.Activate(node.where, "leaky_relu", slope))


def _softmax(node: Node) -> Value:
    if node.attributes.get("axis", -1) not in (1, -1):
        raise node.refused("does not sum over the classes")
    return node.chain().then(parts.Softmax(node.where))


def _unchanged(node: Node) -> Value:
    """Return the chain of an operator that leaves its numbers and rows as they are, or raise."""
    first = node.inputs[0]
    if isinstance(first, np.ndarray):
        raise node.refused("is applied to a constant")
    chain = node.chain()
    if node.kind == "Cast" and node.attributes.get("to", 0) != _CODES[node.precision]:
        raise node.refused("changes the precision, or makes no floats of the network's sums")
    if node.kind == "Flatten" and node.attributes.get("axis", 1) not in (1, -1):
        raise node.refused("joins rows")
    if node.kind == "Squeeze" and chain.width != 1:
        raise node.refused("has more than one column")
    if node.kind == "Reshape":
        shape = [int(size) for size in node.constant(1).ravel()]
        rows = shape[:1] in ([-1], [0]) and shape[1:] in ([chain.width], [-1])
        if not (rows and shape != [-1, -1]) and not (shape == [-1] and chain.width == 1):
            raise node.refused(f"gives the shape {shape}")
    training = node.inputs[2] if node.kind == "Dropout" and len(node.inputs) > 2 else None
    if training is not None and np.any(node.constant(2)):
        raise node.refused("is in training mode")
    return chain


def _labelled(node: Node) -> Value:
    """Return the label with its name, picked from constant names by the result of ArgMax."""
    names, label = node.constant(0), node.inputs[1]
    if not isinstance(label, Output) or label.form != "label":
        raise node.refused("picks columns")
    return replace(label, labels=tuple(str(name) for name in names.ravel()))


def _classifier(node: Node) -> Value:
    """Return the label of a linear classifier: the first of its largest scores."""
    chain, own = node.chain(), node.attributes
    names = [name.decode("utf-8") for name in own.get("classlabels_strings", ())]
    labels = tuple(names or (str(number) for number in own.get("classlabels_ints", ())))
    after = own.get("post_transform", b"NONE").decode("utf-8")
    classes = len(labels)
    if after not in ("NONE", "SOFTMAX", "LOGISTIC") or (after == "LOGISTIC" and classes != 2):
        raise node.refused(f"ends in {after}, which can make large sums equal")
    numbers, bias = node.floats("coefficients"), node.floats("intercepts")
    if numbers.size != classes * chain.width or bias.size not in (0, classes) or classes < 2:
        raise node.refused(f"has {numbers.size} coefficients for {classes} classes")
    weights = numbers.reshape(classes, chain.width).T
    summed = _dense(node, chain, weights, bias if bias.size else None)
    return Output(summed.then(parts.Softmax(node.where)), "label", labels)


_OPERATORS: Mapping[str, Callable[[Node], Value]] = {
    "Gemm": _gemm,
    "MatMul": lambda node: _dense(node, node.chain(), node.constant(1), None),
    "Add": _add,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "Scaler": _scaler,
    "BatchNormalization": _batch,
    "Relu": lambda node: node.chain().then(parts.Activate(node.where, "relu")),
    "Sigmoid": lambda node: node.chain().then(parts.Activate(node.where, "sigmoid")),
    "Tanh": lambda node: node.chain().then(parts.Activate(node.where, "tanh")),
    "LeakyRelu": _leaky,
    "Softmax": _softmax,
    "ArgMax": lambda node: _argmax(node, node.chain()),
    "ArrayFeatureExtractor": _labelled,
    "LinearClassifier": _classifier,
    "ZipMap": _unchanged,
    "Normalizer": _after_decision,
    **dict.fromkeys(("Identity", "Flatten", "Reshape", "Cast", "Dropout", "Squeeze"), _unchanged),
}


def _input_width(given: Any) -> int:
    """Return how many columns the input has."""
    shape = given.type.tensor_type.shape.dim
    sizes = [entry.dim_value if entry.HasField("dim_value") else None for entry in shape]
    if len(sizes) != 2 or sizes[1] is None or sizes[0] not in (None, 0, 1):
        raise ModelError(
            f"the input has the shape {sizes}, not rows of numbers",
            where=f"input {given.name!r}",
            remedy="export it with one input of the shape (None, columns)",
        )
    if not 0 < sizes[1] <= parts.MAXIMUM_WIDTH:
        raise parts.too_large(f"input {given.name!r}")
    return int(sizes[1])


def _graph_network(model: Any) -> parts.ReadNetwork:
    """Return the network of a parsed ONNX model as parts."""
    graph = model.graph
    values: dict[str, Value | None] = {"": None}
    for tensor in graph.initializer:
        values[tensor.name] = _constant_array(tensor)
    if len(graph.sparse_initializer):
        raise _odd_graph("it has sparse weights", "store them as usual")
    given = [entry for entry in graph.input if entry.name not in values]
    if len(given) != 1:
        raise _odd_graph(
            f"the graph has {len(given)} inputs, not one", "export it with one input of all columns"
        )
    width, precision = _input_width(given[0]), _precision(model, given[0])
    values[given[0].name] = Chain(width)
    if len(graph.node) > 20 * parts.MAXIMUM_LAYERS:
        raise ModelError(f"there are {len(graph.node)} operators", where="graph")
    for position, entry in enumerate(graph.node):
        node = _node(entry, position, values, precision)
        values[entry.output[0]] = _apply(node)
        for other in entry.output[1:]:
            # Only classifiers have a second output that is used: the scores beside the label.
            values[other] = values[entry.output[0]] if node.kind == "LinearClassifier" else None
    chain, labels = _decides([values.get(entry.name) for entry in graph.output])
    return parts.ReadNetwork(width, chain.links, precision, "ONNX network", labels)


def _precision(model: Any, given: Any) -> Precision:
    """Return the one type that all weights are of."""
    kinds = {tensor.data_type for tensor in model.graph.initializer}
    kinds.add(given.type.tensor_type.elem_type)
    for entry in model.graph.node:
        if entry.op_type == "Constant":
            kinds |= {attribute.t.data_type for attribute in entry.attribute}
    kinds &= set(_CODES.values())
    if len(kinds) > 1:
        raise _odd_graph("some numbers are float32 and others float64", "export it in one type")
    return "float64" if kinds == {_CODES["float64"]} else "float32"


def _node(
    entry: Any, position: int, values: Mapping[str, Value | None], precision: Precision
) -> Node:
    where = f"node {entry.name or position!r} ({entry.op_type})"
    if entry.domain not in ("", "ai.onnx", "ai.onnx.ml"):
        raise ModelError(
            f"the operator is of {entry.domain!r}", where=where, remedy="export it without"
        )
    missing = [name for name in entry.input if name not in values]
    if missing:
        raise parts.damaged(f"there is no {missing[0]!r}", where)
    inputs = tuple(values[name] for name in entry.input)
    return Node(where, entry.op_type, inputs, _attributes_of(entry, where), precision)


def _decides(outputs: list[Value | None]) -> tuple[Chain, tuple[str, ...]]:
    """Return the chain that all outputs of the graph come from, and its labels if any are named."""
    chains: list[Chain] = []
    labels: tuple[str, ...] = ()
    for output in outputs:
        if isinstance(output, Output):
            labels = labels or output.labels
            output = output.chain
        if not isinstance(output, Chain):
            raise _odd_graph("an output is not made by the network", "export it anew")
        if all(output.links is not chain.links for chain in chains):
            chains.append(output)
    if len(chains) != 1:
        raise _odd_graph(
            f"the graph has {len(chains)} different outputs", "export one with a single decision"
        )
    return chains[0], labels


def read_onnx_file(path: Path) -> parts.ReadNetwork:
    """Return the network of an ``.onnx`` file as parts.

    Raises MissingExtraError without the package onnx, and ModelError for a network that cannot be
    certified.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", extra="onnx", purpose="reading an .onnx file") from error
    # Weights in other files would be of the author's choosing, so they are not looked up.
    return _graph_network(onnx.load(str(path), load_external_data=False))
