"""From the graph of an ONNX model to parts, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.certification.network.feedforward import Precision
from testsgd.certification.network.onnx_operators import (
    Chain,
    Made,
    Node,
    Value,
    apply,
    attributes_of,
    constant_array,
)
from testsgd.certification.network.parts import (
    MAXIMUM_LAYERS,
    MAXIMUM_WIDTH,
    ReadNetwork,
    damaged,
    too_large,
)
from testsgd.errors import MissingExtraError, ModelError


def input_width(given: Any) -> int:
    """Return how many columns the input has."""
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


def graph_network(model: Any) -> ReadNetwork:
    """Turn a parsed model into parts."""
    graph = model.graph
    values: dict[str, Value | None] = {"": None}
    for tensor in graph.initializer:
        values[tensor.name] = constant_array(tensor)
    if len(graph.sparse_initializer):
        raise ModelError("it has sparse weights", where="graph", remedy="store them as usual")
    given = [entry for entry in graph.input if entry.name not in values]
    if len(given) != 1:
        raise ModelError(
            f"the graph has {len(given)} inputs, not one",
            where="graph",
            remedy="export it with one input of all columns",
        )
    width, precision = input_width(given[0]), _precision(model, given[0])
    values[given[0].name] = Chain(width)
    if len(graph.node) > 20 * MAXIMUM_LAYERS:
        raise ModelError(f"there are {len(graph.node)} operators", where="graph")
    for position, entry in enumerate(graph.node):
        node = _node(entry, position, values, precision)
        values[entry.output[0]] = apply(node)
        for other in entry.output[1:]:
            # Only classifiers have a second output that is used: the scores beside the label.
            values[other] = values[entry.output[0]] if node.kind == "LinearClassifier" else None
    chain, labels = _decides([values.get(entry.name) for entry in graph.output])
    return ReadNetwork(width, chain.parts, precision, "ONNX network", labels)


def _precision(model: Any, given: Any) -> Precision:
    """Return the one type that all weights are of."""
    names = {1: "float32", 11: "float64"}
    kinds = {tensor.data_type for tensor in model.graph.initializer if tensor.data_type in names}
    kinds |= {kind for kind in [given.type.tensor_type.elem_type] if kind in names}
    for entry in model.graph.node:
        kinds |= {
            attribute.t.data_type
            for attribute in entry.attribute
            if entry.op_type == "Constant" and attribute.t.data_type in names
        }
    if len(kinds) > 1:
        raise ModelError(
            "some numbers are float32 and others float64",
            where="graph",
            remedy="export it in one type",
        )
    return "float64" if kinds == {11} else "float32"


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
        raise damaged(f"there is no {missing[0]!r}", where)
    inputs = tuple(values[name] for name in entry.input)
    return Node(where, entry.op_type, inputs, attributes_of(entry, where), precision)


def _decides(outputs: list[Value | None]) -> tuple[Chain, tuple[str, ...]]:
    """Find the chain that all outputs are made of, and the labels if one names them."""
    chains: list[Chain] = []
    labels: tuple[str, ...] = ()
    for output in outputs:
        if isinstance(output, Made):
            labels = labels or output.labels
            output = output.chain
        if not isinstance(output, Chain):
            raise ModelError(
                "an output is not made by the network", where="graph", remedy="export it anew"
            )
        if all(output.parts is not chain.parts for chain in chains):
            chains.append(output)
    if len(chains) != 1:
        raise ModelError(
            f"the graph has {len(chains)} different outputs",
            where="graph",
            remedy="export one with a single decision",
        )
    return chains[0], labels


def read_onnx_file(path: Path) -> ReadNetwork:
    """Read an ``.onnx`` file."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", extra="onnx", purpose="reading an .onnx file") from error
    # Weights in other files would be of the author's choosing, so they are not looked up.
    return graph_network(onnx.load(str(path), load_external_data=False))
