"""Groups found on one part of the rows and estimated on the other."""

import numpy as np
import pandas as pd
import pytest
from null_people import SPECIFICATION, audited, people
from scipy.stats import binom

from testsgd.auditing import AuditParameters, run_audit
from testsgd.auditing.run import split_rows
from testsgd.data import check_table
from testsgd.errors import ParameterError
from testsgd.models import load_model


def against_women_of_b(frame: pd.DataFrame) -> np.ndarray:
    unlucky = (frame["sex"] == "f") & (frame["land"] == "b")
    return np.where(frame["points"] < np.where(unlucky, 20_000, 50_000), "yes", "no")


@pytest.fixture(scope="module")
def found():
    table = check_table(people(2000, 1), SPECIFICATION)
    model = load_model(against_women_of_b, SPECIFICATION)
    parameters = AuditParameters(holdout=0.4, seed=5, replicates=99)
    return table, run_audit(model, table, parameters)


def test_the_parts_are_the_rows_each_once(found):
    table, _ = found
    searched, kept = split_rows(table, 0.4, 5)
    assert (len(searched), len(kept)) == (1200, 800)
    together = sorted([*searched.frame.index, *kept.frame.index])
    assert together == list(range(2000))
    assert searched.frame.index.is_monotonic_increasing
    assert kept.notes[-1].startswith("groups were found on 1,200 rows and estimated on 800 others")


def test_figures_are_those_of_the_rows_kept(found):
    table, findings = found
    _, kept = split_rows(table, 0.4, 5)
    assert findings.rows == 800
    frame = kept.frame
    for group in range(len(findings.rule_sets)):
        inside = findings.rule_set(group).matches(kept)
        assert findings.estimates.rows_in[group] == inside.sum()
        yes = against_women_of_b(frame) == "yes"
        # A step changes the decision of next to nobody, so the rates are those of the rows.
        expected = yes[inside].mean() - yes[~inside].mean()
        assert findings.estimates.difference[group] == pytest.approx(expected, abs=2e-3)


def test_groups_and_what_they_looked_like_are_those_of_the_rows_searched(found):
    table, findings = found
    searched, _ = split_rows(table, 0.4, 5)
    model = load_model(against_women_of_b, SPECIFICATION)
    there = run_audit(model, searched, AuditParameters(seed=5, guarantee="per-group"))
    texts = [there.rule_set(group).text for group in there.highlights]
    assert [findings.rule_set(group).text for group in range(len(findings.rule_sets))] == texts
    for place, group in enumerate(there.highlights):
        looked = findings.in_search[place]
        assert looked.score == there.estimates.score[group]
        assert looked.n_in == there.estimates.rows_in[group]
        assert there.ranking[looked.rank - 1] == group


def test_every_rule_and_the_first_group_are_explained_by_the_rows_kept(found):
    _, findings = found
    assert len(findings.rules) > 0
    assert set(findings.explanations) == set(range(len(findings.rule_sets)))
    assert set(findings.distinct) <= set(findings.explanations)


def test_the_guarantee_is_for_the_few_groups_found(found):
    _, findings = found
    assert findings.guarantee.groups == len(findings.rule_sets) <= 20
    assert findings.guarantee.method == "bonferroni"
    assert findings.holdout.groups > 20


def test_the_model_is_asked_about_every_row_once_more_than_its_neighbours(found):
    _, findings = found
    # Two neighbours a row that differ in points, the row itself, and 1,000 probed rows a part.
    own = 0 if findings.own_effects is None else findings.own_effects.queries
    assert findings.queries - own <= 2000 * 3 + 2 * 2000


def test_chosen_groups_look_worse_where_they_were_chosen():
    excess = []
    for seed in range(40):
        findings = audited(600, seed, holdout=0.5)
        searched = [one.score for one in findings.in_search.values()]
        excess.append(np.mean(searched) - findings.estimates.score.mean())
    # By chance alone half of them would look worse.
    assert (np.array(excess) > 0).sum() > binom.ppf(1 - 1e-4, len(excess), 0.5)
    assert np.mean(excess) > 0.02


@pytest.mark.parametrize("share", [0.0001, 0.9999])
def test_a_part_without_rows_is_refused(share):
    table = check_table(people(100, 1), SPECIFICATION)
    with pytest.raises(ParameterError, match="leaves one part without rows"):
        split_rows(table, share, 0)
