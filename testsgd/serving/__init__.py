"""Serving a shield: events as JSON, on lines and over HTTP."""

from testsgd.serving.app import serve, shield_app
from testsgd.serving.messages import answer, decision_answer, label_answer, parsed, refusal
from testsgd.serving.state import shield_state

__all__ = [
    "answer",
    "decision_answer",
    "label_answer",
    "parsed",
    "refusal",
    "serve",
    "shield_app",
    "shield_state",
]
