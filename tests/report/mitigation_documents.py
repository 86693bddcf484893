"""Summaries of mitigations to render: made-up retrainings, whose numbers all agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, sqrt
from random import Random
from statistics import fmean
from typing import Any

from audit_documents import census_document
from text_documents import comments_document
from written_parts import written

from testsgd.mitigation import MitigationSummary, mitigation_verdict

Rates = dict[str, Any]
BUDGET = 0.5
KINDS = ("counter", "odds", "shifted")
HELD_OUT = 9_769
ROWS = 48_842

# Text and rules of a group, its rows, and its rates inside and outside, before and after.
Group = tuple[list[dict[str, Any]], int, float, float, float, float]


def value(feature: str, *values: str) -> dict[str, Any]:
    listed = values[0] if len(values) == 1 else f"in {{{', '.join(values)}}}"
    text = f"{feature} = {listed}" if len(values) == 1 else f"{feature} {listed}"
    return {"feature": feature, "values": list(values), "text": text}


def between(feature: str, low: int, high: int) -> dict[str, Any]:
    return {"feature": feature, "low": low, "high": high, "text": f"{low} <= {feature} < {high}"}


def term(category: str, name: str) -> dict[str, Any]:
    return {"feature": category, "values": [name], "text": f"“{name}”"}


def text_of(rules: Sequence[dict[str, Any]]) -> str:
    return " and ".join(rule["text"] for rule in rules)


WHITE_MEN: Group = (
    [between("age", 40, 60), value("race", "White", "Asian-Pac-Islander"), value("gender", "Male")],
    7_529, 0.4204, 0.1261, 0.2305, 0.1497,
)  # fmt: skip
TARGETS: list[Group] = [
    WHITE_MEN,
    ([value("gender", "Female")], 16_192, 0.0812, 0.2630, 0.1190, 0.2010),
    ([between("age", 20, 30)], 8_054, 0.0411, 0.2451, 0.0902, 0.1847),
    ([value("race", "Black"), between("age", 20, 50)], 3_902, 0.0610, 0.2102, 0.1120, 0.1905),
]
OTHERS: list[Group] = [
    ([between("age", 50, 60), value("gender", "Male")], 5_120, 0.3710, 0.1620, 0.3105, 0.1580),
    ([between("age", 20, 30)], 8_054, 0.0411, 0.2451, 0.0420, 0.2010),
    ([value("gender", "Female")], 16_192, 0.0812, 0.2630, 0.0850, 0.2190),
    ([value("race", "Black")], 4_685, 0.0940, 0.2110, 0.0890, 0.1880),
]
RISEN: list[Group] = [
    ([value("race", "Amer-Indian-Eskimo", "Other"), between("age", 30, 60)], 2_610, 0.1790, 0.1990,
     0.1210, 0.1760),
    ([between("age", 60, 80), value("gender", "Female")], 2_480, 0.1610, 0.1980, 0.1020, 0.1705),
]  # fmt: skip
TERMS: list[Group] = [
    ([term("gender", "gay"), term("religion", "taoist")], 1_040, 0.1980, 0.0790, 0.0890, 0.0810),
]
OTHER_TERMS: list[Group] = [
    ([term("gender", "lesbian")], 2_200, 0.1590, 0.0800, 0.1310, 0.0810),
    ([term("religion", "sikh")], 1_000, 0.0620, 0.0800, 0.0360, 0.0800),
]


def rates(n_in: int, n_out: int, rate_in: float, rate_out: float) -> Rates:
    if not n_in or not n_out:
        known = {"rate_in": rate_in if n_in else None, "rate_out": rate_out if n_out else None}
        return {
            "n_in": n_in, "n_out": n_out, **known, "difference": None, "score": None,
            "confidence_interval": None,
        }  # fmt: skip
    half = 1.96 * sqrt(rate_in * (1 - rate_in) / n_in + rate_out * (1 - rate_out) / n_out)
    difference = rate_in - rate_out
    return {
        "n_in": n_in, "n_out": n_out, "rate_in": rate_in, "rate_out": rate_out,
        "difference": difference, "score": abs(difference),
        "confidence_interval": (difference - half, difference + half),
    }  # fmt: skip


def spread(figures: Sequence[float]) -> dict[str, float]:
    return {"mean": fmean(figures), "lowest": min(figures), "highest": max(figures)}


def _target(
    rank: int, group: Group, rows: int, held_out: int, added: Sequence[tuple[str, float, int]]
) -> Any:
    """In each run samples of a kind, with a weight, so many."""
    rules, n, before_in, before_out, after_in, after_out = group
    few = round(n * held_out / rows)
    direction = "less" if before_in < before_out else "more"
    return {
        "rank": rank,
        "rules": rules,
        "text": text_of(rules),
        "direction": direction,
        "before": rates(n, rows - n, before_in, before_out),
        "after": rates(n, rows - n, after_in, after_out),
        "held_out_before": rates(few, held_out - few, before_in - 0.011, before_out + 0.004),
        "held_out_after": rates(few, held_out - few, after_in + 0.008, after_out - 0.003),
        "choice_before": abs(before_in - before_out) + 0.003,
        "samples": [
            {
                "run": run,
                "kind": kind,
                "side": "rest" if direction == "more" else "group",
                "label": "the favourable one",
                "seeds": round(0.64 * n),
                "drawn": 5_200 + 31 * run,
                "distinct": 4_100 + 17 * run,
                "counter_labelled": 3_126 + 12 * run,
                "relabelled": 0 if kind == "counter" else number // 5,
                "anchors": number // 2 if kind == "shifted" else 0,
                "added": number,
                "weight": weight,
            }
            for run, (kind, weight, number) in enumerate(added, start=1)
        ],
    }


def _change(groups: Sequence[Group], increased: Sequence[Group], rows: int, targets: int) -> Any:
    def one(place: int, group: Group) -> dict[str, Any]:
        rules, n, before_in, before_out, after_in, after_out = group
        return {
            "rank_before": 5 * place + 1,
            "rank_after": 3 * place + 1,
            "rules": rules,
            "text": text_of(rules),
            "before": rates(n, rows - n, before_in, before_out),
            "after": rates(n, rows - n, after_in, after_out),
            "target": place < targets,
        }

    worst = sorted(groups, key=lambda group: -abs(group[4] - group[5]))[:5]
    grown = [one(place + 9, group) for place, group in enumerate(increased)]
    return {
        "rows": rows,
        "groups": 1_403,
        "worst_before": max(abs(group[2] - group[3]) for group in groups),
        "worst_after": max(abs(group[4] - group[5]) for group in [*groups, *increased]),
        "worst": [one(groups.index(group), group) for group in worst],
        "increased": grown,
        "increased_count": 2 * len(grown),
    }


def _candidates(
    before: Sequence[float],
    after: Sequence[float],
    steps: Sequence[int],
    *,
    dear: float,
    seed: int = 4,
) -> list[dict[str, Any]]:
    """More samples and more epochs: a smaller difference, and more accuracy lost.

    The kinds differ in nothing but chance, and in that the last ones of all but the first weigh
    more.
    """
    random, found = Random(seed), []
    tries = [("none", 0, 0, 1.0)]
    tries += [
        (kind, step, samples, 2.5 if kind != "counter" and samples == steps[-1] else 1.0)
        for kind in KINDS
        for step, samples in enumerate(steps)
        if samples
    ]
    for run in (1, 2, 3):
        tried = []
        for kind, step, samples, weight in tries:
            for epoch in (2, 4):
                strength = 1 - exp(-(step / (len(steps) - 1)) * epoch / 1.6)
                drop = dear + 0.9 * strength**2 * samples / steps[-1] + random.gauss(0, 0.09)
                scores = [
                    max(b + (0.8 * a - b) * strength + random.gauss(0, 0.008), 0.001)
                    for b, a in zip(before, after, strict=True)
                ]
                tried.append(
                    {
                        "run": run, "step": step, "stage": f"epoch {epoch}", "kind": kind,
                        "weight": weight, "samples": samples, "accuracy_drop": drop,
                        "scores": scores, "allowed": drop <= BUDGET, "chosen": False,
                    }
                )  # fmt: skip
        within = [one for one in tried if one["allowed"]]
        if within:
            min(within, key=lambda one: max(one["scores"]))["chosen"] = True
        found += tried
    return found


def _runs(
    candidates: Sequence[dict[str, Any]],
    targets: Sequence[dict[str, Any]],
    accuracy: float,
    lost: Sequence[float],
    change: dict[str, Any],
) -> list[dict[str, Any]]:
    found = []
    for run, (drop, shift) in enumerate(zip(lost, (0.009, 0.0, -0.011), strict=True), start=1):
        chosen = next((one for one in candidates if one["run"] == run and one["chosen"]), None)
        shift = shift if chosen else 0.0
        after = [one["after" if chosen else "before"]["score"] for one in targets]
        held_out = [
            one["held_out_after" if chosen else "held_out_before"]["score"] for one in targets
        ]
        found.append(
            {
                "run": run,
                "seed": 1000 + run,
                "kind": chosen and chosen["kind"],
                "weight": chosen and chosen["weight"],
                "samples": chosen and chosen["samples"],
                "validation_drop": chosen["accuracy_drop"] if chosen else 0.0,
                "accuracy": accuracy - drop / 100,
                "accuracy_drop": drop,
                "scores": [None if one is None else max(one + shift, 0.0) for one in after],
                "held_out_scores": [
                    None if one is None else max(one + 2 * shift, 0.0) for one in held_out
                ],
                "worst": change["worst_after"] + max(shift, 0.0),
                "increased": max(change["increased_count"] + run - 2, 0),
                "seconds": 41.3 + 3.1 * run,
            }
        )
    return found


def _over_runs(runs: Sequence[dict[str, Any]], key: str, place: int) -> Any:
    figures = [run[key][place] for run in runs]
    return None if None in figures else spread(figures)


def _comparisons(targets: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    def done(name: str, about: str, left: float, lost: float, seconds: float) -> dict[str, Any]:
        def scores(key: str) -> list[Any]:
            sizes = [one[key]["score"] for one in targets]
            return [
                None if one is None else spread([left * one, left * one + 0.01, left * one + 0.004])
                for one in sizes
            ]

        return {
            "name": name, "about": about, "status": "done",
            "accuracy_drop": spread([lost, lost + 0.1, lost - 0.07]),
            "scores": scores("before"), "held_out_scores": scores("held_out_before"),
            "seconds": seconds,
        }  # fmt: skip

    return [
        done(
            "reweighing",
            "Training examples are weighted so that label and group are independent (Kamiran and "
            "Calders).",
            0.55, 0.21, 9.4,
        ),
        done(
            "exponentiated-gradient",
            "Fairlearn trains a series of models under demographic parity and draws one of them "
            "at random for each decision.",
            0.12, 0.74, 93.0,
        ),
    ]  # fmt: skip


def _document(
    audit: dict[str, Any],
    chosen: Sequence[Group],
    others: Sequence[Group],
    increased: Sequence[Group],
    *,
    rows: int,
    held_out: int,
    accuracy: float,
    lost: Sequence[float] = (0.31, 0.18, 0.24),
    dear: float = -0.1,
    all_above: float | None = None,
) -> dict[str, Any]:
    training = round(0.7 * rows)
    steps = [0, 50, 120, 290, 690, 1_650, round(0.1 * training)]
    before = [abs(group[2] - group[3]) for group in chosen]
    candidates = _candidates(
        before, [abs(group[4] - group[5]) for group in chosen], steps, dear=dear
    )
    kept = [one for one in candidates if one["chosen"]]
    by_run = {
        one["run"]: (one["kind"], one["weight"], round(one["samples"] / len(chosen)))
        for one in kept
    }
    shares = [by_run.get(run, ("counter", 1.0, 0)) for run in (1, 2, 3)]
    targets = [
        _target(rank, group, rows, held_out, shares)
        for rank, group in zip((1, 8, 21, 47), chosen, strict=False)
    ]
    change = _change([*chosen, *others], increased, rows, len(chosen))
    if not kept:
        for one in targets:
            one |= {"after": one["before"], "held_out_after": one["held_out_before"]}
        lost = [0.0] * len(lost)
        change |= {"worst_after": change["worst_before"], "increased": [], "increased_count": 0}
        for one in change["worst"]:
            one |= {"after": one["before"], "rank_after": one["rank_before"]}
    runs = _runs(candidates, targets, accuracy, lost, change)
    ranges = []
    for place, one in enumerate(targets):
        score = _over_runs(runs, "scores", place)
        factor = one["before"]["score"] / score["mean"] if score else None
        ranges.append(
            {
                "score": score,
                "held_out_score": _over_runs(runs, "held_out_scores", place),
                "factor": factor,
            }
        )
    model = audit["model"]
    split = {
        "training": training, "validation": rows - training - held_out, "held_out": held_out,
        "evaluated_by": "labels", "warning": "", "unseen": True,
        "source": "the split that the network was trained with, seed 0",
    }  # fmt: skip
    texts = audit["data"].get("kind") == "texts"
    return {
        "schema": "testsgd.mitigation/2",
        "created": "2026-03-09T10:21:44Z",
        "settings": {
            "group": None if all_above else 1, "all_above": all_above,
            "max_accuracy_drop": BUDGET, "runs": 3, "steps": 6, "fewest_samples": 50,
            "largest_share": 0.1, "samples": "auto", "side": "auto", "fallback": "nearest",
            "max_draws": 200_000, "from_scratch": False, "soften": True, "seed": 0,
        },
        "versions": {"testsgd": "0.1.0", "python": "3.11.2", "numpy": "2.4.6", "keras": "3.15.1"},
        "data": audit["data"] | {"rows": rows},
        "split": split,
        "written": written(targets, runs[1], split, accuracy, texts=texts) if kept else None,
        "original": model,
        "retrained": model | {"name": f"{model['name']}-mitigated", "fingerprint": "5c1d77aa" * 8}
        if kept else None,
        "refitted_as": "fully connected network, from the original weights",
        "chosen_run": 2 if kept else None,
        "accuracy_before": accuracy,
        "accuracy_after": spread([run["accuracy"] for run in runs]),
        "accuracy_drop": spread([run["accuracy_drop"] for run in runs]),
        "balanced_before": 0.78, "balanced_after": spread([0.77 for _ in runs]),
        "favourable_before": 0.24, "favourable_after": spread([0.25 for _ in runs]),
        "targets": targets,
        "ranges": ranges,
        "runs": runs,
        "candidates": candidates,
        "all_rows": change,
        "held_out": change | {"rows": held_out, "groups": 1_288},
        "least_increase": 0.02,
        "comparisons": _comparisons(targets),
        "verdict": {"status": "mitigated", "exit_code": 0, "headline": "", "sentences": []},
        "seconds": {"audit": 14.2, "runs": 142.5, "comparisons": 102.4},
    }  # fmt: skip


def one_target_document() -> dict[str, Any]:
    """One group helped, in three runs, with both comparisons; free to be changed by a test."""
    document = _document(
        census_document(), TARGETS[:1], OTHERS, RISEN,
        rows=ROWS, held_out=HELD_OUT, accuracy=0.8526,
    )  # fmt: skip
    return _labelled(document, "<=50K", ">50K")


def several_targets_document() -> dict[str, Any]:
    """All groups above 10 points, helped in turn."""
    document = _document(
        census_document(), TARGETS, OTHERS[:1] + OTHERS[3:], RISEN[:1],
        rows=ROWS, held_out=HELD_OUT, accuracy=0.8526, all_above=0.1,
    )  # fmt: skip
    return _labelled(document, "<=50K", ">50K")


def still_above_document() -> dict[str, Any]:
    """All groups above 5 points, most of which stay above it."""
    document = several_targets_document()
    document["settings"] |= {"all_above": 0.05}
    return document


def no_candidate_document() -> dict[str, Any]:
    """Every candidate loses more than the budget; the original model stays."""
    document = _document(
        census_document(), TARGETS[:1], OTHERS, (),
        rows=ROWS, held_out=HELD_OUT, accuracy=0.8526, dear=1.4,
    )  # fmt: skip
    return _labelled(document, "<=50K", ">50K")


def accuracy_lost_document() -> dict[str, Any]:
    """Candidates that met the budget on validation rows, but not on the held-out ones."""
    document = _document(
        census_document(), TARGETS[:1], OTHERS, RISEN,
        rows=ROWS, held_out=HELD_OUT, accuracy=0.8526, lost=(0.71, 0.88, 0.62),
    )  # fmt: skip
    return _labelled(document, "<=50K", ">50K")


def no_better_document() -> dict[str, Any]:
    """A retrained model whose difference is larger than before, and another group's too."""
    worse = (*WHITE_MEN[:4], 0.4310, 0.1190)
    crowd: Group = (
        [value("gender", "Male"), between("age", 60, 70)],
        2_900,
        0.31,
        0.19,
        0.52,
        0.17,
    )
    document = _document(
        census_document(), [worse], [*OTHERS, crowd], [crowd, *RISEN],
        rows=ROWS, held_out=HELD_OUT, accuracy=0.8526,
    )  # fmt: skip
    return _labelled(document, "<=50K", ">50K")


def few_held_out_document() -> dict[str, Any]:
    """A small file: 200 held-out rows, 11 of them in the group; few samples, most relabelled.

    What candidates lose of accuracy was estimated twice.
    """
    group: Group = (
        [value("gender", "female"), between("age", 60, 70)], 55, 0.7230, 0.5060, 0.5810, 0.5090,
    )  # fmt: skip
    document = _document(
        census_document(), [group], [], [],
        rows=1_000, held_out=200, accuracy=0.765, lost=(0.5, 0.0, -1.0),
    )  # fmt: skip
    document["split"] |= {
        "training": 700, "validation": 100, "evaluated_by": "probabilities", "unseen": False,
    }  # fmt: skip
    for one in document["targets"][0]["samples"]:
        added = min(one["added"], 70)
        one |= {"kind": "counter", "seeds": 35, "drawn": 9_000, "distinct": 1_120,
                "counter_labelled": 12, "added": added, "relabelled": added - 12, "anchors": 0,
                "weight": 1.0}  # fmt: skip
    for run, one in zip(document["runs"], document["targets"][0]["samples"], strict=True):
        run |= {"kind": "counter", "weight": 1.0, "samples": one["added"]}
    document["split"]["warning"] = (
        "The split that the network was trained with is not known, so rows that are held out here "
        "may have been trained on."
    )
    return _labelled(document, "bad", "good")


def texts_document() -> dict[str, Any]:
    """Texts with two terms, without the exponentiated gradient."""
    document = _document(
        comments_document(), TERMS, OTHER_TERMS, OTHER_TERMS[1:],
        rows=20_000, held_out=4_000, accuracy=0.9470,
    )  # fmt: skip
    document["comparisons"][1] = {
        "name": "exponentiated-gradient", "about": document["comparisons"][1]["about"],
        "status": "not_installed", "reason": "fairlearn is not installed: pip install fairlearn",
    }  # fmt: skip
    document["refitted_as"] = "convolutional LSTM network, from the original weights"
    return _labelled(document, "not toxic", "toxic")


def uncompared_document() -> dict[str, Any]:
    """One run without comparisons, of a file that says nothing about itself."""
    document = one_target_document()
    document["comparisons"] = []
    document["runs"] = document["runs"][1:2]
    document["candidates"] = [one for one in document["candidates"] if one["run"] == 2]
    document["settings"]["runs"] = 1
    run, target = document["runs"][0], document["targets"][0]
    for key in ("accuracy", "accuracy_drop"):
        document["accuracy_after" if key == "accuracy" else key] = spread([run[key]])
    target["samples"] = target["samples"][1:2]
    document["ranges"] = [
        {"score": spread(run["scores"]), "held_out_score": spread(run["held_out_scores"]),
         "factor": target["before"]["score"] / run["scores"][0]}
    ]  # fmt: skip
    document["data"] |= dict.fromkeys(["title", "description", "licence", "citation"], "")
    document["data"]["label"] = document["data"]["label"] | {"meaning": ""}
    return document


def _labelled(document: dict[str, Any], unfavourable: str, favourable: str) -> dict[str, Any]:
    document["data"]["label"] = document["data"]["label"] | {"favourable": favourable}
    for target in document["targets"]:
        for one in target["samples"]:
            given = (one["side"] == "group") == (target["direction"] == "less")
            one["label"] = favourable if given else unfavourable
    return document


def as_mitigation(document: dict[str, Any]) -> MitigationSummary:
    """Check a document, give it the verdict of its numbers and make it an object."""
    summary = MitigationSummary.model_validate(document)
    return summary.model_copy(update={"verdict": mitigation_verdict(summary)})


MITIGATIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "one target": one_target_document,
    "several targets": several_targets_document,
    "still above": still_above_document,
    "no candidate": no_candidate_document,
    "accuracy lost": accuracy_lost_document,
    "no better": no_better_document,
    "few held out": few_held_out_document,
    "texts": texts_document,
    "uncompared": uncompared_document,
}
