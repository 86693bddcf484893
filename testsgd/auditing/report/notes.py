"""What the numbers of an audit mean, in words."""

from __future__ import annotations

from testsgd.auditing.report.summary import AuditSummary, GuaranteeSummary
from testsgd.report.blocks import Note
from testsgd.report.formatting import (
    count,
    number,
    percent,
    plural,
    series,
    share,
    size_points,
    z_value,
)


def meaning_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit."""
    return text_notes(summary) if summary.data.kind == "texts" else row_notes(summary)


def row_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit of rows, in the order in which a reader needs them."""
    label = summary.data.label.favourable
    overlap = percent(summary.parameters.overlap)
    by = (
        "it"
        if summary.parameters.ranked_by == "score"
        else "the lower confidence bound of its size"
    )
    return (
        Note(
            "Observed and neighbourhood rates",
            f"How often the model predicts “{label}”: observed, over the rows of the file as they "
            "are; neighbourhood, over perturbed rows, which are copies in which one feature that "
            "is not sensitive has moved by one small step. Sensitive features stay as they are, so "
            "a row never changes its group. The first says how people are treated. The second says "
            "what remains if small things about them change: where few values make a feature, a "
            "step may take a proxy away, and a difference with it. This audit ranks by the "
            f"{summary.parameters.estimand} rates; the gate, if there is one, looks at both.",
        ),
        Note(
            "Difference and score",
            "The difference (demographic parity difference) is the selection rate of the group "
            "minus that of its complement. A negative difference means that the group is given the "
            "favourable label less often. The complement is all other rows, not a chosen reference "
            "group. The score is the absolute value of the difference; groups are ranked by "
            f"{by}. One point is one percentage point.",
        ),
        sampling_margin_note(
            summary,
            exact=f"all {count(summary.neighbourhood)} perturbed rows were predicted",
            missing="people who are missing from the file",
        ),
        Note("Confidence interval", _interval_of_rows(summary)),
        *searching_notes(summary, "rows"),
        Note(
            "Explaining rules",
            "Many rule sets describe one cause. Forward selection regresses the rates of all "
            "combinations of sensitive values on membership in groups, weighted by rows: first the "
            "group that explains most of the variation, then the one that explains most of what "
            "is left, while that is statistically significant and above 1%. What a rule adds is "
            "its share of the variation. Near-duplicates are groups whose rows overlap with the "
            f"rule's (Jaccard) by at least {overlap}, or that are nearly its complement.",
        ),
        not_judged_note("rows"),
        *explanation_notes(summary, "rows"),
        not_shown_note("a group is treated rightly", "people who know the field"),
        Note(
            "Decisions, not outcomes",
            "The rates describe what the model decides. They do not say what became of the people, "
            "and they do not say whether the decisions are right.",
        ),
    )


def _interval_of_rows(summary: AuditSummary) -> str:
    text = (
        "The people in the file are themselves a sample. The confidence interval says"
        f"{interval_confidence(summary)} where the difference may lie in the population "
        "they come from, if they were drawn from it at random. How wide it is depends on how many "
        "rows the group and its complement have. "
    )
    return text + _narrowing(summary, "rows")


def text_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit of texts, in the order in which a reader needs them."""
    label = summary.data.label.favourable
    by = {
        "score": "it",
        "lower-bound": "the lower confidence bound of its size",
        "counterfactual": "the counterfactual effect of the terms",
    }[summary.parameters.ranked_by]
    overlap = percent(summary.parameters.overlap)
    return (
        Note(
            "How texts are generated",
            "A group is a set of terms, at most one of a category. It is generated from all texts "
            "that have a term of each of its categories, its seeds. In a seed, every term of these "
            "categories is replaced by the term of the group, also a term of several words, and a "
            "plural by a plural. Capitals are kept, and a or an before the term is put right. "
            "Everything else stays letter by letter, and so do mentions of the group's own term.",
        ),
        Note(
            "Selection rate",
            f"How often the model predicts “{label}”. In the group it is counted over the texts "
            "that were generated, in its complement over the texts as they are.",
        ),
        Note(
            "Difference and score",
            "The difference is the selection rate of the group minus that of its complement. A "
            "negative difference means that texts of the group are given the favourable label less "
            "often. The complement is all texts that do not contain all terms of the group, also "
            "texts that mention none at all. So the difference mixes what the terms do with what "
            "texts that mention such terms are about. The score is its absolute value; groups "
            f"are ranked by {by}. One point is one percentage point.",
        ),
        Note("Counterfactual effect", _counterfactual(summary)),
        Note(
            "Texts and share",
            "The number of texts of a group is that of its seeds, and its share is what the paper "
            "calls support (equation 3). It is the same for all groups of the same categories, "
            "however rare the group's own terms are.",
        ),
        Note("Ambiguous terms", _ambiguity(summary)),
        sampling_margin_note(
            summary,
            exact="all seeds were predicted with the terms of every group, and all texts as they "
            "are",
            missing="texts that are missing from the data",
        ),
        Note("Confidence interval", _interval_of_texts(summary)),
        *searching_notes(summary, "texts"),
        Note(
            "Explaining rules",
            "Many groups tell the same story. Forward selection chooses the fewest sets of terms "
            f"that explain the differences. Near-duplicates overlap (Jaccard) by at least {overlap}"
            ".",
        ),
        not_judged_note("texts"),
        *explanation_notes(summary, "texts"),
        not_shown_note("the model treats a term rightly", "those who know the field"),
        Note(
            "Decisions about texts, not outcomes",
            "A finding is about texts that mention a term, not about those whom the term names or "
            "who wrote the texts. The rates describe what the model decides. They do not say what "
            "became of anybody, and they do not say whether the decisions are right.",
        ),
    )


def _counterfactual(summary: AuditSummary) -> str:
    if summary.sampling == "independent":
        return (
            "The counterfactual effect of the terms is not known here: independent sampling draws "
            "for each group alone and compares no text in two forms. Pooled sampling and exact "
            "mode do."
        )
    text = (
        "The same seeds, once with the terms of the group and once with other terms, every "
        "category changed, on average over all other terms. What the texts are about is the same "
        "on both sides, so the difference between them is the effect of the terms. Its confidence "
        "interval is paired and, like the other, about the population. A difference from other "
        "texts with a small counterfactual effect is there for other terms of these categories "
        "too."
    )
    if summary.mode == "sampled":
        return text + " It is measured on the first draws of seeds, which all groups share."
    return text


def _ambiguity(summary: AuditSummary) -> str:
    listed = summary.terms.categories if summary.terms is not None else []
    terms = [term.term for category in listed for term in category.terms if term.ambiguous]
    text = (
        "Terms are found by their letters, not by their meaning, and replaced wherever they stand. "
        "Where one is not about a person, the generated text may make little sense, and what the "
        "model says of it says little."
    )
    if summary.terms is not None and summary.terms.exceptions:
        number = plural(len(summary.terms.exceptions), "fixed expression")
        text += f" In {number} that the list of terms has as exceptions none is looked for."
    if not terms:
        return f"{text} The list of terms marks none as ambiguous."
    named = series([f"“{term}”" for term in terms])
    return f"{text} The list of terms marks as ambiguous: {named}."


def _interval_of_texts(summary: AuditSummary) -> str:
    text = (
        "The texts are themselves a sample. The confidence interval says"
        f"{interval_confidence(summary)} where the difference may lie in the population "
        "they come from, if they were drawn from it at random. A seed counts once, however many "
        "texts are generated from it, and so do equal and nearly equal texts. A text can be a seed "
        "and be in the complement as well; the interval takes the two sides for independent, which "
        "makes it somewhat too wide as long as most generated texts are answered like the texts "
        "they come from. "
    )
    return text + _narrowing(summary, "texts")


def _narrowing(summary: AuditSummary, many: str) -> str:
    if summary.mode == "exact" and summary.parameters.nondeterministic is None:
        return "Asking the model more often would not narrow it."
    return (
        "The error of sampling is part of it, so more queries of the model narrow it somewhat, "
        f"but never below what the number of {many} allows."
    )


def sampling_margin_note(summary: AuditSummary, *, exact: str, missing: str) -> Note:
    """Explain the sampling margin."""
    text = "How far a score may be off because the model was asked about samples only. "
    draws = summary.parameters.nondeterministic
    if summary.mode == "exact" and draws is not None:
        return Note(
            "Sampling margin",
            "How far a score may be off because the model answers at random. Every question was "
            f"asked {draws} times, and a rate is the mean of all answers. It strays from the mean "
            "of all answers that the model might give by no more than this, if it draws each "
            "answer independently of the others, with a confidence of "
            f"{number(summary.parameters.confidence)} on each side. The margin says nothing about "
            f"the {missing}.",
        )
    if summary.mode == "exact":
        text += (
            f"This audit is exact: {exact}, so there is no sampling error and the margin is zero."
        )
        return Note("Sampling margin", text)
    confidence = summary.parameters.confidence
    anytime = any(group.margin_method == "anytime" for group in summary.groups)
    quantile = "" if anytime else f" (z = {z_value(confidence)})"
    text += (
        "The margins of "
        f"the rate inside and of the rate outside are added. Each side is given a confidence of "
        f"{number(confidence)}{quantile}, so both hold together with a "
        f"confidence of {number(confidence)} squared, which is {number(confidence**2)} (Theorem "
        "4.2 of the TestSGD paper by Zhang, Sun, Wang and Sun). "
    )
    if anytime:
        text += (
            "Sampling stops when the margin is small, and a usual interval that is looked at again "
            "and again covers less than it says. This margin is anytime-valid: it is from a "
            "confidence sequence, which holds whenever sampling stops. "
        )
    text += (
        f"The margin says nothing about the {missing}. A group is decided once its margin is at "
        f"most {size_points(summary.parameters.error_margin)}."
    )
    return Note("Sampling margin", text)


def not_judged_note(many: str) -> Note:
    """Explain what is known of groups that could not be judged."""
    return Note(
        "Groups that are not judged",
        f"A group with too few {many}, or one whose sampling margin stayed too wide, is neither "
        "fair nor unfair here. What the model does to it is unknown.",
    )


def not_shown_note(treated: str, judges: str) -> Note:
    """Explain what a difference does not show, and who can tell what it is."""
    return Note(
        "What a difference does not show",
        "A difference is not by itself wrongdoing, and the TestSGD paper says so too: it may "
        f"have causes, and whether they justify it is for {judges} to judge. "
        f"Nor does a small difference prove that {treated}. This report says "
        "where to look.",
    )


def searching_notes(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    """Explain the problem of multiple comparisons, and what is done about it."""
    return (_multiple_comparisons(summary, many), *_replication(summary, many))


def explanation_notes(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    """Explain what is said of what makes up the first groups' differences, as far as it is."""
    known = [group.explanation for group in summary.groups if group.explanation is not None]
    notes = []
    if any(len(item.shapley_values) > 1 for item in known):
        notes.append(
            Note(
                "What each rule adds",
                "How much the difference changes when the rule joins those before it, on average "
                "over all orders in which the rules may come (Shapley value). What the rules add "
                "makes up the whole difference. A simpler description leaves rules out and keeps "
                "at least 90% of it.",
            )
        )
    if any(item.correlated_features for item in known):
        notes.append(
            Note(
                "Correlated features, not causes",
                "Features that are not sensitive and in which the group differs most from its "
                "complement, in standard deviations. That the model uses them, or that they "
                "justify the difference, does not follow.",
            )
        )
    conditional = next((item.conditional for item in known if item.conditional is not None), None)
    if conditional is not None:
        notes.append(
            Note(
                "Conditional difference",
                "The group is compared with others of the same mix of "
                f"{series(conditional.features)}: the {many} of its complement are weighted so "
                "that each combination of these features is as frequent as in the group (direct "
                "standardisation). Members like whom there is nobody else are left out. Whether "
                "these features are a fair reason is for you to judge.",
            )
        )
    return tuple(notes)


def interval_confidence(summary: AuditSummary) -> str:
    """Return the confidence of an interval; empty if another note has it."""
    if summary.guarantee.kind == "per-group":
        return f", with a confidence of {number(summary.parameters.confidence)},"
    return ""


def _multiple_comparisons(summary: AuditSummary, many: str) -> Note:
    guarantee = summary.guarantee
    text = (
        f"{count(summary.counts.groups)} groups were compared and the list begins with the "
        "largest differences. A group at the top is there partly by chance, so its difference is "
        "likely to be somewhat smaller in other data (selection bias). "
    )
    if summary.holdout is not None:
        text = (
            f"{count(summary.holdout.groups)} groups were compared in one part of the {many}, and "
            "only the first one and the explaining rules estimated on the other part. "
        )
    if guarantee.kind == "per-group":
        error = share(1 - guarantee.confidence)
        text += "Every interval holds for one group by itself, not for all groups at once. "
        text += f"Of many such intervals about {error} miss, and the first groups' most often. "
    elif guarantee.kind == "simultaneous":
        text += _simultaneous(guarantee, many)
    else:
        text += _false_discovery(guarantee)
    if any(group.counterfactual for group in summary.groups):
        if guarantee.kind == "simultaneous":
            text += "Those of counterfactual effects are simultaneous as well (Bonferroni). "
        else:
            text += "The intervals of counterfactual effects hold for one group at a time. "
    if summary.holdout is None:
        text += (
            f"{many.capitalize()} that played no part in this audit are the way to confirm a "
            "finding."
        )
    return Note("Multiple comparisons", text.rstrip())


def _simultaneous(guarantee: GuaranteeSummary, many: str) -> str:
    confidence = number(guarantee.confidence)
    text = (
        f"The intervals are simultaneous: with a confidence of {confidence} those of all "
        f"{count(guarantee.groups)} groups hold at once, the first groups' too (the family-wise "
        f"error rate is at most {share(1 - guarantee.confidence)}). "
    )
    if guarantee.critical_value is not None:
        text += (
            f"So each has a critical value of {guarantee.critical_value:.2f} standard errors, not "
            f"{z_value(guarantee.confidence)} for a single group. "
        )
    if guarantee.method in ("max-statistic", "mixed"):
        text += (
            "How wide they must be is seen from how far the most deviant of all groups strays in "
            f"{count(guarantee.replicates)} bootstrap samples of the {many}. "
        )
    if guarantee.method == "mixed":
        text += (
            "Groups that got samples of their own share half of the error equally (Bonferroni). "
        )
    if guarantee.method == "bonferroni":
        text += "The error is shared equally by all groups (Bonferroni). "
    return (
        f"{text}The lower confidence bound of a difference is its smallest size within the "
        "interval. A difference is statistically significant if the interval leaves out zero. "
    )


def _false_discovery(guarantee: GuaranteeSummary) -> str:
    error = share(1 - guarantee.confidence)
    return (
        "The q-value of a group is the smallest false discovery rate at which it is a discovery "
        "(Benjamini and Yekutieli, for any dependence). Groups with a q-value of at most "
        f"{number(1 - guarantee.confidence)} are discoveries: of these at most {error} are false "
        f"on average. The intervals are adjusted for the selection: of the discoveries' intervals "
        f"at most {error} miss the true difference on average. The lower confidence bound of a "
        "difference is its smallest size within the interval. "
    )


def _replication(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    notes = []
    holdout = summary.holdout
    if holdout is not None:
        notes.append(
            Note(
                "Held-out rows" if many == "rows" else "Held-out texts",
                f"Groups were searched in {count(holdout.searched)} {many} chosen at random. All "
                f"rates, differences and intervals are from the {count(holdout.estimated)} others, "
                "so they have no selection bias.",
            )
        )
    if summary.stability_samples:
        notes.append(
            Note(
                "Bootstrap stability",
                f"The {many} were drawn anew, with replacement, {count(summary.stability_samples)} "
                "times, and each time the search was done again. It is counted how often the "
                "rule, or a near-duplicate, is selected again. A rule that was selected by chance "
                "comes back seldom.",
            )
        )
    return tuple(notes)
