"""The figures of result.json are those of the model that is written, by brute force over groups.

What recomputes them imports nothing from testsgd, and is itself held to sets of rows by hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitigation_benchmarks import ROOT, benchmark
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import testsgd
from testsgd.mitigation import FrontierResult

skops_io = pytest.importorskip("skops.io")
recomputed = benchmark("recomputed_figures")

ROWS = 1_200
SETTINGS: dict[str, Any] = {
    "sensitive_features": ["sex", "town", "age"],
    "features": {"age": {"type": "integer", "range": [0, 100], "bins": 4}},
    "max_accuracy_drop": 3.0,
    "favourable": "yes",
}
FEATURES = [
    recomputed.SensitiveFeature("sex"),
    recomputed.SensitiveFeature("town"),
    recomputed.SensitiveFeature("age", edges=(0, 25, 50, 75, 100)),
]


def world() -> tuple[pd.DataFrame, pd.Series[str]]:
    """People whose labels are harder on women of one town; some towns and ages are missing."""
    source = np.random.default_rng(0)
    age = source.integers(18, 80, ROWS).astype(float)
    age[source.random(ROWS) < 0.1] = np.nan
    town = pd.Series(source.choice(["a", "b", "c"], ROWS), dtype=object)
    town[source.random(ROWS) < 0.1] = None
    people = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "town": town,
            "age": age,
            "points": source.normal(0, 1, ROWS).round(3),
        }
    )
    harder = (people["sex"] == "f") & (people["town"] == "a")
    noise = source.logistic(0, 0.5, ROWS)
    granted = people["points"] - 0.8 * harder + 0.01 * people["age"].fillna(50) + noise > 0.5
    return people, pd.Series(np.where(granted, "yes", "no"), name="granted")


PEOPLE, GRANTED = world()
FAVOURABLE = (GRANTED == "yes").to_numpy()


def pipeline() -> Any:
    encode = make_column_transformer(
        (OneHotEncoder(drop="if_binary", sparse_output=False), ["sex", "town"]),
        ("passthrough", ["points"]),
    )
    return make_pipeline(encode, LogisticRegression())


def written(method: str, folder: Path) -> tuple[dict[str, Any], Path]:
    """Run a frontier; return what result.json holds, and the folder of the model."""
    fitted = pipeline().fit(PEOPLE, GRANTED)
    result = testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS, method=method, jobs=1)
    result.write(folder / "report")
    result.write_model(folder / "model")
    content = (folder / "report" / "result.json").read_text(encoding="utf-8")
    summary: dict[str, Any] = json.loads(content)
    assert summary["chosen"] is not None
    return summary, folder / "model"


def estimator_of(folder: Path) -> Any:
    file = folder / "model.skops"
    return skops_io.load(file, trusted=skops_io.get_untrusted_types(file=file))


def original_fitted_again(summary: dict[str, Any]) -> Any:
    """Fit the original to the rows that were seen, as the figures before are of."""
    held_out = recomputed.held_out_places(FAVOURABLE, seed=summary["split"]["seed"])
    seen = np.setdiff1d(np.arange(ROWS), held_out)
    return clone(pipeline()).fit(PEOPLE.iloc[seen], GRANTED.iloc[seen])


def compared(summary: dict[str, Any], *, before: Any, after: Any) -> dict[str, bool]:
    """Return for each figure by its name whether the recomputed one is equal."""
    figures = recomputed.recomputed_figures(
        summary, PEOPLE, FAVOURABLE, FEATURES, before=before, after=after
    )
    return {figure.name: figure.equal for figure in figures}


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    return written("play", tmp_path_factory.mktemp("play"))


@pytest.mark.slow
def test_a_play_prints_the_figures_of_its_model(play: tuple[dict[str, Any], Path]) -> None:
    summary, folder = play
    plain, fair = original_fitted_again(summary), estimator_of(folder)
    found = compared(
        summary,
        before=lambda rows: plain.predict(rows) == "yes",
        after=lambda rows: fair.predict(rows) == "yes",
    )
    assert {"worst before", "worst after", "groups", "balanced accuracy after"} <= set(found)
    assert all(found.values()), found


def test_thresholds_print_the_figures_of_their_file(tmp_path: Path) -> None:
    summary, folder = written("thresholds", tmp_path)
    base = estimator_of(folder)
    position = list(base.classes_).index("yes")
    after = benchmark("recomputed_frontiers").with_thresholds(
        lambda rows: base.predict_proba(rows)[:, position], folder / "thresholds.json", FEATURES
    )
    found = compared(summary, before=lambda rows: base.predict(rows) == "yes", after=after)
    assert "worst after" in found
    assert all(found.values()), found


@pytest.mark.parametrize(
    ("where", "figure"),
    [
        (("worst_before", "difference"), "worst before"),
        (("before", "accuracy"), "accuracy before"),
        (("before", "balanced"), "balanced accuracy before"),
        (("split", "held_out_sha256"), "which rows (sha256)"),
        (("groups",), "groups"),
    ],
)
def test_a_figure_that_was_changed_is_found(
    play: tuple[dict[str, Any], Path], where: tuple[str, ...], figure: str
) -> None:
    summary = json.loads(json.dumps(play[0]))
    *path, last = where
    part = summary
    for key in path:
        part = part[key]
    part[last] = "0" if isinstance(part[last], str) else part[last] + 0.001
    plain, fair = original_fitted_again(summary), estimator_of(play[1])
    found = compared(
        summary,
        before=lambda rows: plain.predict(rows) == "yes",
        after=lambda rows: fair.predict(rows) == "yes",
    )
    assert [name for name, equal in found.items() if not equal] == [figure]


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", None]),
            st.sampled_from([5.0, 10.0, 25.0, 30.0, None]),
            st.booleans(),
        ),
        min_size=1,
        max_size=40,
    ),
    fewest=st.integers(1, 5),
)
def test_the_worst_difference_is_that_of_sets_of_rows(
    rows: list[tuple[str | None, float | None, bool]], fewest: int
) -> None:
    """Groups are enumerated as Python sets of row numbers, without a table or a sum."""
    everything = frozenset(range(len(rows)))
    towns = {row[0] for row in rows}
    of_town: list[tuple[frozenset[int], frozenset[int]]] = [(everything, everything)]
    for size in range(1, len(towns)):
        for chosen in combinations(towns, size):
            members = frozenset(i for i in everything if rows[i][0] in chosen)
            of_town.append((members, everything))
    known = frozenset(i for i in everything if rows[i][1] is not None)
    of_age = [(everything, everything), (everything - known, everything)]
    # Bins 0 to 10, 10 to 20, 20 to 30, of which the last is open.
    for low, high in ((0, 10), (0, 20), (10, 20), (10, 99), (20, 99)):
        members = frozenset(i for i in known if low <= (rows[i][1] or 0) < high)
        of_age.append((members, known))
    expected = 0.0
    for (first, among), (second, also) in product(of_town, of_age):
        inside = first & second
        outside = (among & also) - inside
        if min(len(inside), len(outside)) >= fewest:
            shares = [sum(rows[i][2] for i in side) / len(side) for side in (inside, outside)]
            expected = max(expected, abs(shares[0] - shares[1]))

    frame = pd.DataFrame(
        {
            "town": pd.Series([row[0] for row in rows], dtype=object),
            "age": pd.Series([row[1] for row in rows], dtype=float),
        }
    )
    features = [
        recomputed.SensitiveFeature("town"),
        recomputed.SensitiveFeature("age", edges=(0.0, 10.0, 20.0, 30.0)),
    ]
    found = recomputed.group_figures(
        [recomputed.feature_rules(frame, feature) for feature in features],
        np.array([[1.0] * len(rows), [float(row[2]) for row in rows]]),
        most_rules=2,
        fewest_rows=fewest,
    )
    assert found.worst[0] == pytest.approx(expected)


@pytest.mark.slow
def test_a_run_is_recomputed_without_what_it_was_made_by(tmp_path: Path) -> None:
    """The command itself, for a network that is committed; testsgd reads and is asked only."""
    result: FrontierResult = testsgd.fair_frontier(
        None, None, "demo", method="thresholds", max_accuracy_drop=3, limit=3_000
    )
    result.write(tmp_path / "report")
    result.write_model(tmp_path / "model")
    code = """
import sys
from benchmarks.recomputed_frontiers import main
code = main()
forbidden = ("mitigation", "rules", "scoring", "auditing")
used = [name for name in sys.modules if name.startswith(tuple(f"testsgd.{f}" for f in forbidden))]
sys.exit(f"used: {used}" if used else code)
"""
    report = tmp_path / "report" / "result.json"
    files = ["--result", str(report), "--model", str(tmp_path / "model")]
    command = [sys.executable, "-c", code, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    changed = json.loads(report.read_text(encoding="utf-8"))
    changed["worst_before"]["difference"] *= 1.01
    report.write_text(json.dumps(changed), encoding="utf-8")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
