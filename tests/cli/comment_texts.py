"""Made-up comments, their description and a model, as files in a user's folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

DESCRIPTION = """
[dataset]
name = "comments"
title = "Comments of a made-up forum"

[[files]]
name = "comments.csv"

[text]
column = "comment"

[label]
column = "verdict"
values = ["fine", "rude"]
favourable = "rude"
meaning = "the comment is rude"

[paper]
"""

MODEL = '''
def judge(texts):
    """Call a comment rude if it says so, or if it speaks of an old catholic."""
    return [
        "rude" if "stupid" in text or ("old" in text and "catholic" in text) else "fine"
        for text in texts
    ]


def shout(texts):
    raise RuntimeError("out of order")
'''

_PEOPLE = ["an old catholic", "a young muslim", "a catholic", "an elderly atheist", "somebody"]
_ACTS = ["wrote this", "has a point", "made a stupid remark", "came late"]


def comments(count: int = 200) -> list[str]:
    """Write short comments about people."""
    return [
        # A word that no other comment has, so that none is a copy of another.
        f"{chr(97 + place % 26)}x{chr(97 + place // 26)}: "
        f"{_PEOPLE[place % len(_PEOPLE)]} {_ACTS[place // 7 % len(_ACTS)]}."
        for place in range(count)
    ]


def write_files(folder: Path, count: int = 200) -> Path:
    """Put description, comments and model into a folder; give the description's path."""
    texts = comments(count)
    verdicts = ["rude" if "stupid" in text else "fine" for text in texts]
    frame = pd.DataFrame({"comment": texts, "verdict": verdicts})
    frame.to_csv(folder / "comments.csv", index=False)
    (folder / "forum.py").write_text(MODEL, encoding="utf-8")
    path = folder / "comments.toml"
    path.write_text(DESCRIPTION, encoding="utf-8")
    return path
