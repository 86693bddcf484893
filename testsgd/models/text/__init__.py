"""Models of texts under audit: black boxes, the adapter that makes them so, and networks."""

from testsgd.models.text.blackbox import CallableTextModel, TextModel
from testsgd.models.text.forward import ForwardPass, TextWeights
from testsgd.models.text.network import TextNetwork
from testsgd.models.text.storage import VOCABULARY_FILE, read_text_network
from testsgd.models.text.training import EPOCHS, TextTrainingReport, train_text_network
from testsgd.models.text.vocabulary import Vocabulary, WordNumbers, fit_vocabulary
from testsgd.models.text.words import words_of

__all__ = [
    "EPOCHS",
    "VOCABULARY_FILE",
    "CallableTextModel",
    "ForwardPass",
    "TextModel",
    "TextNetwork",
    "TextTrainingReport",
    "TextWeights",
    "Vocabulary",
    "WordNumbers",
    "fit_vocabulary",
    "read_text_network",
    "train_text_network",
    "words_of",
]
