"""Independent sampling of texts: the paper's Algorithm 2 to the letter, one group after another.

Nothing is shared and nothing remembered, so it takes many times the queries of pooled sampling and
serves as its reference.
"""

from __future__ import annotations

import numpy as np

from testsgd.auditing.algorithm_two import check_share, sample_until_certain
from testsgd.auditing.estimates import Counts, drawn_estimates
from testsgd.auditing.outcome import Progress
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import containing_all
from testsgd.auditing.text.outcome import TextOutcome
from testsgd.data.text import Texts
from testsgd.models.text import TextModel
from testsgd.rules.text import Mentions, TermRuleSets
from testsgd.sampling.text import Replacer


def sample_texts_independent(
    model: TextModel,
    texts: Texts,
    mentions: Mentions,
    rule_sets: TermRuleSets,
    parameters: AuditParameters,
    *,
    budget: int,
    progress: Progress | None = None,
) -> tuple[TextOutcome, int]:
    """Run the paper's Algorithm 2 for one group after another.

    Each step draws a seed with repetition, replaces its terms and asks; and draws a text that lacks
    one of the group's terms and asks.

    Parameters
    ----------
    model : TextModel
        The black box.
    texts, mentions, rule_sets, parameters, budget, progress
        As for :func:`sample_texts_pooled`; each group gets the same share of the budget.

    Returns
    -------
    TextOutcome
        Without a paired comparison, for which nothing was drawn in pairs.
    int
        Queries.

    Raises
    ------
    ParameterError
        If the budget does not suffice for the fewest samples of every group.

    References
    ----------
    Zhang et al., TestSGD, Algorithm 2 and section 4.3.
    """
    share = check_share(budget, len(rule_sets), parameters)
    replacer = Replacer(texts.texts, mentions)
    contains = mentions.contains()
    tallies = np.zeros((5, len(rule_sets)), dtype=np.int64)
    for group in range(len(rule_sets)):
        category_set = rule_sets.category_sets[rule_sets.set_of(group)]
        chosen = rule_sets.chosen(group)
        generator = np.random.default_rng(
            [parameters.seed, 3, group - category_set.first, *category_set.categories]
        )
        inside = np.ones(len(texts), dtype=bool)
        for category, term in zip(category_set.categories, chosen, strict=True):
            inside &= contains[category][:, term]
        outside = np.flatnonzero(~inside)
        if len(outside) == 0 or len(category_set.rows) == 0:
            continue

        def ask(
            count: int,
            seeds: Counts = category_set.rows,
            categories: tuple[int, ...] = category_set.categories,
            terms: tuple[int, ...] = chosen,
            others: np.ndarray[tuple[int], np.dtype[np.intp]] = outside,
            generator: np.random.Generator = generator,
        ) -> Counts:
            drawn_in = seeds[generator.integers(0, len(seeds), count)]
            drawn_out = others[generator.integers(0, len(others), count)]
            variants = [replacer.variant(int(row), categories, terms) for row in drawn_in]
            answers = [
                model.decisions(variants),
                model.decisions([texts.texts[row] for row in drawn_out]),
            ]
            return np.array(answers, dtype=np.int64)

        tallies[:, group] = sample_until_certain(ask, parameters, share)
        if progress is not None:
            progress(group + 1, len(rule_sets))
    once = np.ones(len(texts), dtype=np.int64)
    sizes_out = len(texts) - containing_all(mentions, rule_sets, once)
    estimates = drawn_estimates(rule_sets.rows(), sizes_out, tallies[:4], parameters)
    return TextOutcome(estimates, None, asked=0, favourable=0), int(tallies[4].sum())
