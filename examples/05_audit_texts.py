"""Audit a model of texts: comments, a list of sensitive terms, and a filter that holds some back.

Run it with: cd examples && python 05_audit_texts.py
On the command line: testsgd audit comments.toml --data comments.csv --model comment_filter:score
"""

from pathlib import Path

import numpy as np
import pandas as pd

import testsgd

HERE = Path(__file__).parent

PEOPLE = ["A young woman", "Two old men", "A middle-aged man", "An old woman", "Young girls"]
THINGS = ["My bus", "The lift", "This forum", "Our street"]
SYLLABLES = ["ba", "cor", "den", "fal", "gor", "hol", "kir", "lun", "mar", "nor", "pen", "ston"]
ORIGINS = ["an islander", "a European", "two northerners", "some southerners"]


def make_comments(path: str, count: int = 2_000) -> None:
    """Write a file of comments; those that mention an origin are rude more often.

    Each is about a place of its own: comments that only repeat one another would count once.
    """
    generator = np.random.default_rng(5)
    comments = []
    for _ in range(count):
        about = generator.choice(PEOPLE if generator.random() < 0.4 else THINGS)
        origin = f" for {generator.choice(ORIGINS)}" if generator.random() < 0.25 else ""
        rude = "stupid " if generator.random() < (0.4 if origin else 0.1) else ""
        place = "".join(generator.choice(SYLLABLES, 4)).title()
        comments.append(f"{about} kept us waiting{origin} in {place}. What a {rude}day.")
    pd.DataFrame({"comment": comments}).to_csv(path, index=False)


make_comments("comments.csv")

# The description says where the texts are, what is compared and where the terms are listed.
result = testsgd.audit("comment_filter:score", "comments.csv", HERE / "comments.toml")
print(result.verdict.headline)
for sentence in result.verdict.sentences:
    print(sentence)

print()
print("in points: from other texts | counterfactual effect")
origins = ["“islander”", "“european”", "“northerner”", "“southerner”"]
of_origin = result.groups[result.groups["text"].isin(origins)]
for group in pd.concat([result.distinct, of_origin]).itertuples():
    difference, effect = 100 * group.difference, 100 * group.counterfactual_effect
    print(f"{difference:+26.1f} | {effect:+14.1f}  {group.text}")
print()
for path in result.write("reports/comments"):
    print(f"Written: {path}")
