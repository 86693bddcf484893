"""Models under audit: black boxes, the adapters that make them so, and the paper's networks."""

from testsgd.models.answers import CheckedFunction
from testsgd.models.blackbox import (
    PROBE_ROWS,
    CallableModel,
    Model,
    PlainRows,
    PreparedRows,
)
from testsgd.models.cards import TrainingReport
from testsgd.models.encoding import Encoding, fit_encoding
from testsgd.models.files import CARD_FILE, MODEL_FILE, PREPROCESSING_FILE, read_card
from testsgd.models.keras_training import check_training
from testsgd.models.labelled import Split, binary_labels, split_examples
from testsgd.models.network import Layer, NetworkModel
from testsgd.models.refitting import Examples, Refitter, Stage, refitter_for
from testsgd.models.repeating import Repetition, ask_again
from testsgd.models.resolve import LoadedModel, import_object, load_model, load_text_model
from testsgd.models.storage import read_network
from testsgd.models.text import (
    CallableTextModel,
    TextModel,
    TextNetwork,
    TextTrainingReport,
    read_text_network,
    train_text_network,
)
from testsgd.models.training import HIDDEN_UNITS, train_network

__all__ = [
    "CARD_FILE",
    "HIDDEN_UNITS",
    "MODEL_FILE",
    "PREPROCESSING_FILE",
    "PROBE_ROWS",
    "CallableModel",
    "CallableTextModel",
    "CheckedFunction",
    "Encoding",
    "Examples",
    "Layer",
    "LoadedModel",
    "Model",
    "NetworkModel",
    "PlainRows",
    "PreparedRows",
    "Refitter",
    "Repetition",
    "Split",
    "Stage",
    "TextModel",
    "TextNetwork",
    "TextTrainingReport",
    "TrainingReport",
    "ask_again",
    "binary_labels",
    "check_training",
    "fit_encoding",
    "import_object",
    "load_model",
    "load_text_model",
    "read_card",
    "read_network",
    "read_text_network",
    "refitter_for",
    "split_examples",
    "train_network",
    "train_text_network",
]
