"""A model of texts of one's own: a function from a list of strings to scores."""

import re

RUDE = {"rubbish", "stupid", "useless"}


def score(comments: list[str]) -> list[float]:
    """Give each comment's score in [0, 1]; above 0.5 it is held back."""
    return [_score(set(re.findall(r"\w+", comment.lower()))) for comment in comments]


def _score(words: set[str]) -> float:
    rude = 0.6 * bool(words & RUDE)
    # What it should not have learnt: neither word alone matters, both together do.
    learnt = 0.6 * ("old" in words and bool(words & {"woman", "women"}))
    return min(1.0, rude + learnt)
