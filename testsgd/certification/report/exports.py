"""The tables of a certification as data frames and CSV, and its gates as JUnit XML."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pandas as pd

from testsgd.certification.report.summary import CertificationSummary, GateRule
from testsgd.certification.report.wording import between, proved_texts
from testsgd.report.formatting import share

if TYPE_CHECKING:
    from testsgd.certification.asking import PersonCheck


def regions_frame(summary: CertificationSummary) -> pd.DataFrame:
    """Return the regions as a data frame; the estimate is NaN where no sample fell."""
    columns = {
        "region": "text",
        "share": "share",
        "proved_fair": "certified",
        "proved_unfair": "falsified",
        "undecided": "undecided",
        "estimated_unfair_of_samples": "unfair_estimate",
    }
    rows = [[getattr(region, name) for name in columns.values()] for region in summary.regions]
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame.astype({"estimated_unfair_of_samples": float})


def counterexamples_frame(summary: CertificationSummary) -> pd.DataFrame:
    """List the counterexamples as a data frame, a row each person.

    ``case`` numbers them and ``proved`` says whether a proof covers them; then come the inputs, in
    the network's order, and ``decision``. The rows of a case differ in the protected inputs only.
    """
    domain = summary.domain
    names = [item.name for item in domain.inputs]
    rows = []
    for case, example in enumerate(summary.counterexamples, start=1):
        for answer in example.answers:
            own = dict(zip(domain.protected, answer.protected, strict=True))
            person = {**example.person, **own}
            values = [person[name] for name in names]
            rows.append([case, example.proved, *values, answer.decision])
    frame = pd.DataFrame(rows, columns=range(len(names) + 3))
    # Set afterwards: an input may be called as one of these columns.
    frame.columns = pd.Index(["case", "proved", *names, "decision"])
    return frame


def people_frame(checks: Sequence[PersonCheck], rows: object) -> pd.DataFrame:
    """Return checks of people as a data frame, with the index of their rows if these have one."""
    # Imported here: a result that is only read back needs no proofs.
    from testsgd.certification.asking import PersonCheck

    columns = [field.name for field in dataclasses.fields(PersonCheck)]
    cells = [[getattr(check, name) for name in columns] for check in checks]
    index = rows.index if isinstance(rows, pd.DataFrame) else None
    return pd.DataFrame(cells, columns=columns, index=index)


# XML has no way to write these.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_certification_junit(summary: CertificationSummary) -> str:
    """Write the verdict of a certification as JUnit XML.

    A test case a gate: a failure if it is proved to be broken, an error if there is
    not enough evidence, so that a build is green only if everything is proved. Without a gate
    there is one case, which passes.
    """
    verdict = summary.verdict
    outcomes = [rule.outcome for rule in verdict.rules]
    counts = {
        "tests": str(max(len(outcomes), 1)),
        "failures": str(outcomes.count("failed")),
        "errors": str(outcomes.count("not_enough_evidence")),
    }
    if summary.seconds is not None:
        counts["time"] = f"{summary.seconds:.3f}"
    root = ET.Element("testsuites", {"name": "testsgd certify", **counts})
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": _clean(f"{summary.network.name} on {summary.domain.name}"),
            **counts,
            "skipped": "0",
            **({} if summary.created is None else {"timestamp": _clean(summary.created)}),
        },
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(summary):
        ET.SubElement(properties, "property", {"name": name, "value": value})
    for rule in verdict.rules:
        _case(suite, rule, summary)
    if not verdict.rules:
        ET.SubElement(suite, "testcase", {"classname": "testsgd.certify", "name": "no gate"})
    output = ET.SubElement(suite, "system-out")
    output.text = _clean("\n".join([verdict.headline, *verdict.sentences]))
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(suite: ET.Element, rule: GateRule, summary: CertificationSummary) -> None:
    name = {
        "fail_above": f"at most {share(rule.limit)} unfair",
        "fail_below": f"at least {share(rule.limit)} proved fair",
    }[rule.name]
    case = ET.SubElement(suite, "testcase", {"classname": "testsgd.certify", "name": name})
    if rule.outcome == "passed":
        return
    kind = "failure" if rule.outcome == "failed" else "error"
    reason = ET.SubElement(case, kind, {"message": _clean(rule.sentence), "type": rule.outcome})
    reason.text = _clean(summary.verdict.headline)


def _properties(summary: CertificationSummary) -> list[tuple[str, str]]:
    proved, found = summary.proved, summary.estimated
    texts = proved_texts(proved)
    written = [
        ("exit code", str(summary.verdict.exit_code)),
        ("proved fair, at least", texts.certified),
        ("proved unfair, at least", texts.falsified),
        ("undecided, at most", texts.undecided),
    ]
    if found is not None:
        ends = between(*found.domain_confidence_interval)
        confidence = share(found.confidence)
        written.append(
            (f"estimated by sampling: unfair, {confidence} confidence", " to ".join(ends))
        )
    return written


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
