"""Independent sampling of texts: the paper's Algorithm 2, one group of texts after another.

See Zhang et al., TestSGD, Algorithm 2 and section 4.3.
"""

from __future__ import annotations

import numpy as np

from testsgd.auditing.estimates import Counts, drawn_estimates
from testsgd.auditing.independent import check_share, sample_until_certain
from testsgd.auditing.text.answers import containing_all
from testsgd.auditing.text.outcome import TextAudit, TextOutcome
from testsgd.sampling.text import Replacer


def sample_texts_independent(audit: TextAudit, budget: int) -> TextOutcome:
    """Estimate each group of texts by samples of its own (TestSGD, Algorithm 2).

    Each step asks about a seed with the group's terms, and about a text that lacks one of them.
    """
    model = audit.model.model
    texts = audit.texts
    rule_sets = audit.rule_sets
    share = check_share(budget, len(rule_sets), audit.parameters)
    replacer = Replacer(texts.texts, audit.mentions)
    contains = audit.mentions.contains()

    def sample(group: int) -> Counts:
        """Return the tallies of one group, as :func:`sample_until_certain` does."""
        category_set = rule_sets.category_sets[rule_sets.set_of(group)]
        seeds = category_set.rows
        categories = category_set.categories
        terms = rule_sets.chosen(group)
        generator = np.random.default_rng(
            [audit.parameters.seed, 3, group - category_set.first, *categories]
        )
        chosen = zip(categories, terms, strict=True)
        inside = np.all([contains[category][:, term] for category, term in chosen], axis=0)
        outside = np.flatnonzero(~inside)

        def ask(count: int) -> Counts:
            """Return the answers about seeds and about texts outside, shape (2, count)."""
            drawn_in = seeds[generator.integers(0, len(seeds), count)]
            drawn_out = outside[generator.integers(0, len(outside), count)]
            variants = [replacer.variant(int(row), categories, terms) for row in drawn_in]
            others = [texts.texts[row] for row in drawn_out]
            return np.array([model.decisions(variants), model.decisions(others)], dtype=np.int64)

        if len(outside) == 0 or len(seeds) == 0:
            return np.zeros(5, dtype=np.int64)
        return sample_until_certain(ask, audit.parameters, share)

    tallies = np.zeros((5, len(rule_sets)), dtype=np.int64)
    counter = audit.counter("asking group by group", len(rule_sets))
    for group in range(len(rule_sets)):
        tallies[:, group] = sample(group)
        counter.add(1)
    once = np.ones(len(texts), dtype=np.int64)
    sizes_out = len(texts) - containing_all(audit.mentions, rule_sets, once)
    estimates = drawn_estimates(rule_sets.rows(), sizes_out, tallies[:4], audit.parameters)
    return TextOutcome(estimates, None, asked=0, favourable=0, drawn=int(tallies[4].sum()))
