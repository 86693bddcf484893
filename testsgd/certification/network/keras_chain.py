"""In which order the layers of a Keras network are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testsgd.errors import ModelError


def layer_chain(configuration: Any) -> list[dict[str, Any]]:
    """Give the layers in the order in which they are computed.

    Parameters
    ----------
    configuration : dict
        ``class_name`` and ``config`` of a Sequential or Functional model.

    Returns
    -------
    list of dict
        Each layer's configuration.

    Raises
    ------
    ModelError
        If the model is of another class, or its layers are no chain.
    """
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
    """Give the names of input or output layers: one triple, or a list of triples."""
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
    """Give the layers that a layer is applied to, in the notation of Keras 2 or 3."""
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
