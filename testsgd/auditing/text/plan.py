"""How many texts an exact audit asks about, known before any text is generated."""

from __future__ import annotations

import itertools

import numpy as np

from testsgd.auditing.parameters import AuditParameters
from testsgd.errors import ParameterError
from testsgd.rules.text import Mentions, TermRuleSets


def check_means(parameters: AuditParameters, *, exact: bool, needed: int) -> None:
    """Raise a :class:`ParameterError` if means over answers are asked for and samples are drawn.

    A text that is drawn twice is asked about once; so its answer is no new one.
    """
    if parameters.nondeterministic is None or exact:
        return
    raise ParameterError(
        f"means over several answers take an exact audit of texts, of up to {needed:,} queries",
        where="nondeterministic",
        remedy=f"use --mode exact, give --max-queries {needed}, or fewer texts with --limit",
        name="nondeterministic",
    )


def count_variants(mentions: Mentions, rule_sets: TermRuleSets) -> int:
    """Count the generated texts of an exact audit that differ from the texts they come from.

    A variant is known by its seed and by the terms of the categories that it changes. A category
    whose mentions are of the chosen term already is not changed, so the variant of a rule set of
    two terms may be the same text as that of one of them; it is counted once. Variants of different
    seeds may still be the same text, so the number is an upper bound.

    Parameters
    ----------
    mentions : Mentions
        The sensitive terms in the texts.
    rule_sets : TermRuleSets
        The frequent rule sets.

    Returns
    -------
    int
        Variants, the unchanged texts not counted.
    """
    present = mentions.presence()
    # A category of a text that all of its mentions write with one term can also stay as it is.
    pure = mentions.sole() >= 0
    sizes = np.array(mentions.terms.sizes, dtype=np.int64)
    sets = [frozenset(category_set.categories) for category_set in rule_sets.category_sets]
    patterns, counts = np.unique(np.hstack([present, pure]), axis=0, return_counts=True)
    categories = present.shape[1]
    total = 0
    for pattern, count in zip(patterns, counts, strict=True):
        here = frozenset(np.flatnonzero(pattern[:categories]).tolist())
        stays = frozenset(np.flatnonzero(pattern[categories:]).tolist())
        changed = {
            changes
            for one in sets
            if one <= here
            for size in range(len(one & stays) + 1)
            for changes in map(one.difference, itertools.combinations(sorted(one & stays), size))
        }
        total += int(count) * sum(
            int(np.prod([sizes[at] - (at in stays) for at in changes]))
            for changes in changed
            if changes
        )
    return total
