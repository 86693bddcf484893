"""How a certification is laid out as a report."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from testsgd.certification.report import charts, wording
from testsgd.certification.report.notes import certification_notes
from testsgd.certification.report.summary import (
    CertificationSummary,
    EstimatedSummary,
    RegionSummary,
)
from testsgd.report.blocks import (
    GATE_STANDINGS,
    Block,
    Boxed,
    Column,
    Details,
    Document,
    Facts,
    Figure,
    KeyFigure,
    KeyFigures,
    Only,
    Paragraph,
    Row,
    Section,
    Status,
    Strong,
    Table,
    Text,
    meaning_section,
)
from testsgd.report.formatting import (
    capital,
    count,
    either,
    moment,
    number,
    percent,
    plural,
    seconds,
    series,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import origin, version_facts

# Longer tables are folded away on a page, and so many regions are drawn.
_OPEN_ROWS = 12
# Shared inputs of a counterexample that have a column each; more than these are written
# together, so that the table is no wider than its page.
_OWN_COLUMNS = 6
# More labels than these are counted, not listed.
_LABELS = 6

_STOPPED = {
    "done": "nothing was left to do",
    "time": "the time limit was reached",
    "undecided": "little enough was undecided",
    "interrupted": "it was interrupted",
}
_METHODS = {
    "enumerated": "every person was tried",
    "bounded": "bounds were proved on boxes of people",
}
_WEIGHTS = {
    "volume": "every point alike; of real inputs, length",
    "data": "weighted by the data's own distribution of each input",
    "given": "weighted by the distribution that the domain gives of each input",
}


def certification_layout(summary: CertificationSummary) -> Document:
    """Return the report of a certification as a document; nothing is computed anew."""
    verdict, estimated = summary.verdict, summary.estimated
    return Document(
        what="Certification",
        subject=f"{summary.network.name} on {summary.domain.name}",
        status=Status(wording.STATUS_NAMES[verdict.status], GATE_STANDINGS.get(verdict.status, "")),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        figures=(Only("html", (_figures(summary),)),),
        opening=(Only("html", (Paragraph(_definition(summary), "definition"),)),),
        sections=(
            Section(
                "proved",
                _title(summary) if estimated is None else "What is proved, and what is estimated",
                _proved(summary),
                contents=_title(summary),
                markdown="blocks",
            ),
            Section("time", "Over time", _over_time(summary)),
            Section("regions", "Where unfairness sits", _regions(summary)),
            Section(
                "cases",
                "Counterexamples",
                _cases(summary),
                markdown="blocks",
                folded=True,
                printed=False,
            ),
            Section(
                "particulars",
                "Domain, network and settings",
                _particulars(summary),
                contents="Domain, network, settings",
                markdown="folded",
                folded=True,
            ),
            meaning_section(certification_notes(summary)),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _title(summary: CertificationSummary) -> str:
    return "What was found" if summary.within_rounding else "What is proved"


def _figures(summary: CertificationSummary) -> KeyFigures:
    proved, texts = summary.proved, wording.proved_texts(summary.proved)
    counted = wording.people_counts(proved, summary.domain, summary.method)
    fair, unfair = (
        ([plural(people, "person", "people")] for people in counted) if counted else ([], [])
    )
    found = sum(not example.proved for example in summary.counterexamples)
    single = (f"besides, {plural(found, 'person', 'people')} found by running the model",)
    left = KeyFigure(
        "Undecided",
        wording.bound(texts.undecided, "≤"),
        ("nothing is proved of the rest" if proved.undecided else "none are left",),
    )
    if summary.however_rounded is not None:
        left = KeyFigure(
            "Decided by rounding",
            wording.at_most(summary.however_rounded.undecided),
            (
                plural(summary.within_rounding, "person", "people"),
                "another machine may decide otherwise",
            ),
        )
    return KeyFigures(
        (
            KeyFigure(
                capital(wording.share_name("fair", summary)),
                wording.bound(texts.certified, "≥"),
                (*fair, "every protected value compared gets the same decision"),
                "good" if proved.certified else "",
            ),
            KeyFigure(
                capital(wording.share_name("unfair", summary)),
                wording.bound(texts.falsified, "≥"),
                (
                    *unfair,
                    "two protected values get different decisions",
                    *(single if found and not proved.falsified else ()),
                ),
                "bad" if proved.falsified or found else "",
            ),
            left,
        )
    )


def _definition(summary: CertificationSummary) -> Text:
    """Return what every share is of, who is compared, and what is decided."""
    domain, labels = summary.domain, summary.network.labels
    of = f"Every share is of {wording.people(domain)}"
    if domain.points is not None:
        combinations = "combination" if domain.points == 1 else "combinations"
        of += (
            f": {wording.people_number(domain.points)} {combinations} of the inputs that are not "
            "protected"
        )
    decisions: list[str | Strong] = []
    for index, label in enumerate(labels[:_LABELS]):
        if index:
            decisions.append(" or " if index == min(len(labels), _LABELS) - 1 else ", ")
        decisions.append(Strong(f"“{label}”"))
    more = f" or another of {len(labels)}" if len(labels) > _LABELS else ""
    return (
        f"{of}. Compared are {wording.compared_text(domain)}. The decision is ",
        *decisions,
        f"{more}. Proved shares are rounded down, the undecided share is rounded up.",
    )


def _proved(summary: CertificationSummary) -> tuple[Block, ...]:
    """Return the blocks of the three shares, with the estimate from samples set apart."""
    texts = wording.proved_texts(summary.proved)
    fair, unfair = (capital(wording.share_name(kind, summary)) for kind in ("fair", "unfair"))
    rows = [
        Row((f"{fair}, at least", texts.certified)),
        Row((f"{unfair}, at least", texts.falsified)),
        Row(("Undecided, at most", texts.undecided)),
    ]
    if summary.however_rounded is not None:
        share = wording.at_most(summary.however_rounded.undecided)
        rows.append(Row(("Of all decided by rounding, at most", share)))
    shares = Table(
        _title(summary), (Column("Proved"), Column("Share of the domain", "number")), tuple(rows)
    )
    figure = Figure("Shares of the domain, fair and unfair", (charts.proved_stack(summary),))
    estimated = () if summary.estimated is None else (_estimated(summary, summary.estimated),)
    return figure, Only("markdown", (shares,)), *estimated


def _estimated(summary: CertificationSummary, estimated: EstimatedSummary) -> Boxed:
    part = " to ".join(wording.between(*estimated.confidence_interval))
    domain = " to ".join(wording.between(*estimated.domain_confidence_interval))
    reading = (
        "Of the undecided part ",
        Strong(part),
        f" is unfair, by {count(estimated.unfair)} of {plural(estimated.samples, 'sample')}; of "
        "the whole domain it is ",
        Strong(domain),
        ". These are estimates and no proofs.",
    )
    shares = Table(
        "What is estimated",
        (Column(wording.estimate_title(summary)), Column("Share", "number")),
        (
            Row(("Unfair share of the undecided part", part)),
            Row(("Unfair share of the domain", domain)),
        ),
    )
    return Boxed(
        (
            Figure("Estimated share", (charts.estimated_stack(summary, estimated),)),
            Only("html", (Paragraph(reading),)),
            Only("markdown", (shares,)),
        )
    )


def _over_time(summary: CertificationSummary) -> tuple[Block, ...]:
    drawn = charts.shares_over_time(summary)
    if drawn is None:
        return ()
    about = (
        "Blue from below is what was proved fair by then, orange from above what was proved "
        "unfair; what is between was still undecided."
    )
    caption = (
        "Time is drawn so that each step to the right takes several times as long as the one "
        "before."
    )
    figure = Figure("Shares over time", (drawn,), caption if drawn.across.logarithmic else "")
    return (Only("html", (Paragraph(about), figure)),)


def _regions(summary: CertificationSummary) -> tuple[Block, ...]:
    """Return the chart and the table of the regions; no blocks without any."""
    if not summary.regions:
        return ()
    about = (
        "Parts of the domain with the most unfairness, proved or possible. All conditions of a "
        "region hold together; an input that is not named takes any value."
    )
    unfair = wording.share_name("unfair", summary)
    likely = "; the paler orange part of it is estimated to be unfair, by the samples in it"
    figure = Figure(
        "Unfair and undecided shares of the regions",
        # Those that are drawn make the scale: one of the others may be much larger.
        (charts.region_strips(summary.regions[:_OPEN_ROWS]),),
        f"Bars: shares of the whole domain; orange is {unfair}, grey undecided"
        f"{'' if summary.estimated is None else likely}. At the right: the region's share of the "
        "domain.",
    )
    return Only("html", (Paragraph(about), figure)), _region_table(summary)


def _region_table(summary: CertificationSummary) -> Table:
    """List the regions; the parts are shares of the region, only the first share is the domain's.

    The estimate stands in a column that says so, and appears only if samples were drawn.
    """
    sampled = any(region.unfair_estimate is not None for region in summary.regions)

    def part(region: RegionSummary, size: float) -> str:
        return wording.at_least(wording.part_of(size, region))

    fair, unfair = (wording.share_name(kind, summary) for kind in ("fair", "unfair"))
    columns: list[Listed[tuple[int, RegionSummary]]] = [
        Listed("", lambda item: count(item[0])),
        Listed("Region", lambda item: item[1].text, "name"),
        Listed("Share of the domain", lambda item: percent(item[1].share)),
        Listed(f"Of it {fair}", lambda item: part(item[1], item[1].certified)),
        Listed(f"Of it {unfair}", lambda item: part(item[1], item[1].falsified), "strong"),
        Listed(
            "Of it undecided",
            lambda item: wording.at_most(wording.part_of(item[1].undecided, item[1])),
        ),
        Listed(
            "Estimated: unfair, of samples in it",
            lambda item: percent(item[1].unfair_estimate),
            shown=sampled,
        ),
    ]
    return listing(
        "Regions where unfairness is proved or possible",
        enumerate(summary.regions, start=1),
        columns,
        row=lambda item: {"units": tuple(rule.text for rule in item[1].rules)},
        fold=f"{plural(len(summary.regions), 'region')} with all shares",
        open_rows=_OPEN_ROWS,
    )


def short_region_table(summary: CertificationSummary, most: int) -> Table:
    """Return the first regions as a table for a terminal; all parts are shares of the domain."""

    def estimate(region: RegionSummary) -> str:
        if region.unfair_estimate is None:
            return ""
        return f"{region.falsified + region.undecided * region.unfair_estimate:.2%}"

    columns: list[Listed[RegionSummary]] = [
        Listed(
            capital(wording.share_name("unfair", summary)),
            lambda region: wording.at_least(region.falsified, 2),
            short="unfair" if summary.within_rounding else "proved",
        ),
        Listed(
            "Estimated unfair", estimate, short="estimated", shown=summary.estimated is not None
        ),
        Listed("Undecided", lambda region: wording.at_most(region.undecided, 2), short="undecided"),
        Listed("Region", lambda region: region.text, "text", short="region"),
        Listed("Size", lambda region: f"{region.share:.2%}"),
    ]
    return listing(
        f"{summary.network.name} on {summary.domain.name}: where unfairness is proved, "
        "estimated or possible, as shares of the domain",
        summary.regions[:most],
        columns,
    )


def _cases(summary: CertificationSummary) -> tuple[Block, ...]:
    if not summary.counterexamples:
        return ()
    about = (
        "The rows of a case are people who differ in nothing but "
        f"{' and '.join(summary.domain.protected)}, and get different decisions."
    )
    if any(example.proved for example in summary.counterexamples):
        about += " A case marked “proved” lies in a part that is proved unfair."
    if (counted := counted_cases(summary)) is not None:
        about = f"{counted} {about}"
    title = "Counterexamples: rows of a case differ in the protected inputs only"
    table = _case_table(summary)
    counts = () if counted is None else (Paragraph(counted),)
    return (
        Only("html", (Paragraph(about), table)),
        Only("markdown", (Details(title, (*counts, table)),)),
    )


def counted_cases(summary: CertificationSummary) -> str | None:
    """Return how many counterexamples there are and are kept; None if they were not counted."""
    found = summary.counterexamples_found
    if found is None:
        return None
    return f"Counterexamples: {count(found)} found, {count(len(summary.counterexamples))} kept."


def _case_table(summary: CertificationSummary) -> Table:
    """List counterexamples, a row each person; the rows of a case differ only in what is protected.

    The eye should find who is decided otherwise than the first.
    """
    protected, examples = summary.domain.protected, summary.counterexamples
    shared = list(examples[0].person)
    together = len(shared) > _OWN_COLUMNS
    columns = (
        Column("Case", "group"),
        *(Column(name, "text" if index else "name") for index, name in enumerate(protected)),
        Column("Decision"),
        Column("Sum" if summary.network.decision == "threshold" else "Sums", "number"),
        *(
            (Column("The same for all of the case", shared=True),)
            if together
            else (
                Column(name, "text" if isinstance(value, str) else "number", shared=True)
                for name, value in examples[0].person.items()
            )
        ),
    )
    rows = []
    for case, example in enumerate(examples, start=1):
        person = [wording.value_text(example.person[name]) for name in shared]
        lines = _spread(
            [f"{name} {value}" for name, value in zip(shared, person, strict=True)],
            len(example.answers),
        )
        for index, answer in enumerate(example.answers):
            proof = "proved" if example.proved else "by running"
            rows.append(
                Row(
                    (
                        count(case),
                        *answer.protected,
                        answer.decision,
                        wording.sums_text(answer),
                        *([lines[index]] if together else person),
                    ),
                    emphasis=answer.decision != example.answers[0].decision,
                    note="" if index else proof,
                    group=case,
                )
            )
        if example.left_out:
            blank = [""] * (len(columns) - 2)
            rest = f"and {count(example.left_out)} more"
            rows.append(Row((count(case), rest, *blank), group=case))
    return Table("Counterexamples", columns, tuple(rows))


def _spread(items: Sequence[str], lines: int) -> list[str]:
    """Write items with commas on a number of lines, about as many on each."""
    ends = [round(len(items) * line / lines) for line in range(lines + 1)]
    return [", ".join(items[start:end]) for start, end in pairwise(ends)]


def _particulars(summary: CertificationSummary) -> tuple[Block, ...]:
    network, domain, asked = summary.network, summary.domain, summary.settings
    inputs = listing(
        "Inputs of the domain",
        domain.inputs,
        [
            Listed("Input", lambda entry: entry.name, "name"),
            Listed("Values", lambda entry: entry.text, "text"),
            Listed(
                "Role", lambda entry: "protected, compared" if entry.protected else "free", "text"
            ),
        ],
        fold=f"{plural(len(domain.inputs), 'input')} and the values of each",
        open_rows=_OPEN_ROWS,
    )
    threshold = network.decision == "threshold"
    turning = "" if network.decision_threshold is None else number(network.decision_threshold)
    unfair, certified = (
        "no such gate" if limit is None else share(limit)
        for limit in (asked.fail_above, asked.fail_below)
    )
    # Facts without a text are left out.
    boxes, open_boxes, within_rounding = (
        count(many) if many else ""
        for many in (summary.boxes, summary.open_boxes, summary.within_rounding)
    )
    return (
        Facts(
            "Network",
            (
                ("Name", network.name),
                ("Kind", network.kind),
                ("Layers", wording.layers_text(network.columns, network.layers)),
                ("Runs in", network.precision),
                ("Decides", "by a threshold" if threshold else "for the largest sum"),
                ("Decisions", either(network.labels)),
                ("The decision turns at a sum of", turning),
                ("File (sha256)", network.file_sha256 or ""),
            ),
        ),
        Facts(
            "Domain",
            (
                ("Name", domain.name),
                (
                    "People: combinations of the free inputs",
                    wording.people_number(domain.points),
                ),
                ("How they count", _WEIGHTS[domain.weight]),
                ("Protected", series(domain.protected)),
                ("Compared", wording.compared_text(domain)),
                ("Sensitive, not compared", series(domain.left_out)),
            ),
        ),
        Only("html", (inputs,)),
        Facts(
            "Settings",
            (
                ("Time limit", "none" if asked.time_limit is None else seconds(asked.time_limit)),
                ("Stop at undecided", "" if asked.undecided is None else share(asked.undecided)),
                ("Gate: unfair at most", unfair),
                ("Gate: proved fair at least", certified),
                ("Samples of the undecided part", count(asked.samples)),
                ("Confidence of the estimate", number(asked.confidence)),
                ("Processors", count(asked.processors)),
                ("Seed", str(asked.random_state)),
            ),
        ),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                ("Method", _METHODS[summary.method]),
                ("Ended because", _STOPPED[summary.stopped]),
                ("Boxes looked at" if summary.method == "bounded" else "People tried", boxes),
                ("Boxes left undecided", open_boxes),
                ("People within rounding of the turning point", within_rounding),
                ("Time of the search", seconds(summary.seconds)),
                *version_facts(summary),
            ),
        ),
        Only("markdown", (inputs,)),
    )
