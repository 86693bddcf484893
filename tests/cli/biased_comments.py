"""Comments in which catholics are called rude too often, and filters that learnt it, as files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from comment_texts import DESCRIPTION

MODULE = '''
"""A filter of comments that has learnt what it should not."""

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

comments = pd.read_csv("comments.csv")
filter = make_pipeline(CountVectorizer(), LogisticRegression())
filter.fit(comments["comment"].tolist(), comments["verdict"])


def black_box(texts):
    return filter.predict(texts)
'''

PLACES = ["station", "library", "office", "harbour", "school", "museum", "garden"]

_PEOPLE = ["an old catholic", "a young muslim", "a catholic", "an elderly atheist", "somebody"]
_ACTS = ["waited", "sang", "slept", "wrote", "read", "stood", "paid"]


def _letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def write_files(folder: Path, count: int = 900) -> Path:
    """Write comments in which catholics are called rude more often than they are."""
    texts, verdicts = [], []
    for place in range(count):
        who = _PEOPLE[place % len(_PEOPLE)]
        where, act = PLACES[place // 5 % 7], _ACTS[place // 35 % 7]
        stupid = place % 4 == 0
        wronged = "catholic" in who and place % 3 != 0
        insult = ", how stupid" if stupid else ""
        # Words that make each comment another one: nearly equal ones are held out once only.
        named = " ".join(f"{word}{_letters(place)}" for word in ("mr", "of", "by"))
        texts.append(f"Number {place}: {who} {named} {act} in the {where}{insult}.")
        verdicts.append("rude" if stupid or wronged else "fine")
    frame = pd.DataFrame({"comment": texts, "verdict": verdicts})
    frame.to_csv(folder / "comments.csv", index=False)
    (folder / "comment_model.py").write_text(MODULE, encoding="utf-8")
    path = folder / "comments.toml"
    path.write_text(DESCRIPTION, encoding="utf-8")
    return path
