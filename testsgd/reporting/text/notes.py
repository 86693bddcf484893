"""What the numbers of an audit of texts mean."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import percent, plural, series
from testsgd.reporting.notes import not_judged_note, not_shown_note, sampling_margin_note
from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.trust_notes import behind_notes, interval_confidence, searching_notes


def text_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit of texts, in the order in which a reader needs them."""
    label = summary.data.label.favourable
    by = {
        "score": "it",
        "lower-bound": "the lower confidence bound of its size",
        "counterfactual": "the difference of the terms alone",
    }[summary.parameters.rank_by]
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
            "Rate",
            f"How often the model predicts “{label}”. In the group it is counted over the texts "
            "that were generated, outside over the texts as they are.",
        ),
        Note(
            "Difference and score",
            "The difference is the rate in the group minus the rate outside it. A negative "
            "difference means that texts of the group are given the favourable label less often. "
            "Outside are all texts that do not contain all terms of the group, also texts that "
            "mention none at all. So the difference mixes what the terms do with what texts that "
            "mention such terms are about. The score is the difference without its sign; groups "
            f"are ranked by {by}. One point is one percentage point.",
        ),
        Note("The terms alone", _counterfactual(summary)),
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
        Note("Population interval", _population_interval(summary)),
        *searching_notes(summary, "texts"),
        Note(
            "Explaining rules",
            "Many groups tell the same story. Forward selection chooses the fewest sets of terms "
            f"that explain the differences. Near-duplicates overlap (Jaccard) by at least {overlap}"
            ".",
        ),
        not_judged_note("texts"),
        *behind_notes(summary, "texts"),
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
            "How much of a difference is the terms' own is not known here: independent sampling "
            "draws for each group alone and compares no text in two forms. Pooled sampling and "
            "exact mode do."
        )
    text = (
        "The same seeds, once with the terms of the group and once with other terms, every "
        "category changed, on average over all other terms. What the texts are about is the same "
        "on both sides, so the difference between them is the terms' own. Its interval is paired "
        "and, like the other, about the population. A difference from other texts of which "
        "little is the terms' own is there for other terms of these categories too."
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


def _population_interval(summary: AuditSummary) -> str:
    text = (
        "The texts are themselves a sample. The interval says"
        f"{interval_confidence(summary)} where the difference may lie in the population "
        "they come from, if they were drawn from it at random. A seed counts once, however many "
        "texts are generated from it, and so do equal and nearly equal texts. A text can be a seed "
        "and be outside as well; the interval "
        "takes the two sides for independent, which makes it somewhat too wide as long as most "
        "generated texts are answered like the texts they come from. "
    )
    if summary.mode == "exact" and summary.parameters.nondeterministic is None:
        return text + "Asking the model more often would not narrow it."
    return text + (
        "The error of sampling is part of it, so more queries of the model narrow it somewhat, "
        "but never below what the number of texts allows."
    )
