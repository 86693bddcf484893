"""Models under audit: black boxes, the adapters that make them so, and the paper's networks."""

from testsgd.models.blackbox import (
    PROBE_ROWS,
    CallableModel,
    Model,
    PlainRows,
    PreparedRows,
)
from testsgd.models.encoding import Encoding, fit_encoding
from testsgd.models.network import Layer, NetworkModel
from testsgd.models.resolve import LoadedModel, load_model
from testsgd.models.storage import (
    CARD_FILE,
    MODEL_FILE,
    PREPROCESSING_FILE,
    read_card,
    read_network,
)
from testsgd.models.training import (
    HIDDEN_UNITS,
    TrainingReport,
    check_training,
    train_network,
)

__all__ = [
    "CARD_FILE",
    "HIDDEN_UNITS",
    "MODEL_FILE",
    "PREPROCESSING_FILE",
    "PROBE_ROWS",
    "CallableModel",
    "Encoding",
    "Layer",
    "LoadedModel",
    "Model",
    "NetworkModel",
    "PlainRows",
    "PreparedRows",
    "TrainingReport",
    "check_training",
    "fit_encoding",
    "load_model",
    "read_card",
    "read_network",
    "train_network",
]
