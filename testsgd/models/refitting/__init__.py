"""Training a model again, with examples besides those that it was trained on."""

from testsgd.models.refitting.find import refitter_for
from testsgd.models.refitting.protocol import Examples, Inputs, Refitter, Stage

__all__ = ["Examples", "Inputs", "Refitter", "Stage", "refitter_for"]
