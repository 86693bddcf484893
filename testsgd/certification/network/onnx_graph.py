"""From the graph of an ONNX model to parts, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testsgd.certification.network.feedforward import Precision
from testsgd.certification.network.onnx_operators import Chain, Made, Node, Value, apply
from testsgd.certification.network.onnx_values import attributes_of, constant_array, input_width
from testsgd.certification.network.parts import MAXIMUM_LAYERS, ReadNetwork
from testsgd.errors import ModelError


def graph_network(model: Any) -> ReadNetwork:
    """Turn a parsed model into parts.

    Parameters
    ----------
    model : onnx.ModelProto
        The model.

    Returns
    -------
    ReadNetwork

    Raises
    ------
    ModelError
        If an operator is none that is known, or the graph makes several decisions.
    """
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
    """Give the one type that all weights are of."""
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
        raise ModelError(f"there is no {missing[0]!r}", where=where, remedy="give a sound file")
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
