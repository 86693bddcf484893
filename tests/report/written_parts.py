"""What a made-up summary says of the model that was written: counts that agree with its rates."""

from __future__ import annotations

from typing import Any

Part = dict[str, Any]


def compared(before: float, after: float, half: float = 0.004) -> Part:
    """A figure of both models, its change with an interval of that half width."""
    change = after - before
    return {
        "before": before, "after": after, "change": change,
        "confidence_interval": (change - half, change + half),
    }  # fmt: skip


def part(rows: int, accuracy: float, drop: float, *, balanced_drop: float = 1.1) -> Part:
    """One part of the data; what is lost is in points."""
    constant = 0.759
    positives = round(0.241 * rows)
    return {
        "rows": rows,
        "positives": positives,
        "accuracy": compared(accuracy, accuracy - drop / 100),
        "p_value": 0.04,
        "balanced": compared(0.771, 0.771 - balanced_drop / 100),
        "constant": constant,
        "above_constant": compared(constant, accuracy - drop / 100),
        "true_positives": (round(0.7 * positives), round(0.6 * positives)),
        "true_negatives": (round(0.9 * (rows - positives)), round(0.92 * (rows - positives))),
        "one_sided": False,
        "accuracy_drop": drop,
        "balanced_drop": balanced_drop,
    }


def side(rows: int, before: float, after: float) -> Part:
    return {
        "rows": rows,
        "positives": rows // 3,
        "selected": compared(before, after),
        "selected_before": (before - 0.01, before + 0.01),
        "selected_after": (after - 0.01, after + 0.01),
        "true_positive_rate": compared(0.68, 0.533),
        "false_positive_rate": compared(0.12, 0.09),
        "gained": 3,
        "lost": 241,
    }


def effect(difference: float, *, half: float = 0.01) -> Part:
    """What terms change by themselves."""
    return {
        "seeds": 190, "rate_with": 0.4 + difference, "rate_other": 0.4, "difference": difference,
        "confidence_interval": (difference - half, difference + half),
    }  # fmt: skip


def effects(before: float, after: float) -> Part:
    return {
        "effect_before": effect(before),
        "effect_after": effect(after),
        "effect": compared(before, after, 0.014),
    }


def written_target(target: Part, *, texts: bool) -> Part:
    """Who pays; the rates as the rows are differ a little from those that audits measure."""
    before, after = target["held_out_before"], target["held_out_after"]
    known = before["difference"] is not None
    found = {
        "group": side(before["n_in"], before["rate_in"] or 0, after["rate_in"] or 0),
        "complement": side(before["n_out"], before["rate_out"] or 0, after["rate_out"] or 0),
        "observed_before": before,
        "observed_after": after,
        "neighbourhood_before": before,
        "neighbourhood_after": after,
        "levelled_down": 0.3,
    }
    nothing = dict.fromkeys(("before", "after", "change", "confidence_interval"))
    for name in ("observed", "neighbourhood"):
        found[name] = compared(before["difference"], after["difference"]) if known else nothing
    return found | (effects(0.114, 0.021) if texts else {})


def written(
    targets: list[Part], run: Part, split: Part, accuracy: float, *, texts: bool
) -> dict[str, Any]:
    return {
        "run": run["run"],
        "estimand": "neighbourhood",
        "constant_label": "<=50K",
        "training": part(split["training"], accuracy + 0.01, 0.2),
        "validation": part(split["validation"], accuracy, run["validation_drop"]),
        "held_out": part(split["held_out"], accuracy, run["accuracy_drop"]),
        "targets": [written_target(target, texts=texts) for target in targets],
    }
