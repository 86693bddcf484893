"""The views of a certification: complete, escaped, and all with the same verdict."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from certification_documents import CERTIFICATIONS, bounded, domain, enumerated, network
from page_outline import Outline, outline_of_report
from page_parts import of_class, section, text

from testsgd.certification import CertificationResult, CertificationSummary, summarise_certification
from testsgd.certification.domain import CategoryInput, IntegerInput
from testsgd.cli.report import report
from testsgd.errors import ParameterError

EVIL = "<script>alert(1)</script>"


@pytest.fixture(params=CERTIFICATIONS)
def result(request: pytest.FixtureRequest) -> CertificationResult:
    return CertificationResult(CERTIFICATIONS[request.param]())


def test_the_page_is_well_formed_and_asks_for_nothing(result: CertificationResult) -> None:
    outline_of_report(result.to_html())


def test_every_view_has_the_verdict(result: CertificationResult) -> None:
    verdict = result.verdict
    page = Outline(result.to_html()).text
    markdown = re.sub(r"\\([\\`*_\[\]|~$])", r"\1", result.to_markdown())
    markdown = markdown.replace("&lt;", "<").replace("&gt;", ">")
    junit = "".join(ET.fromstring(result.to_junit()).itertext())
    for told in [verdict.headline, *verdict.sentences]:
        assert told in page
        assert told in markdown
        assert told in junit
    assert CertificationResult.from_json(result.to_json()).exit_code == result.exit_code


def test_junit_is_green_only_if_the_policy_is_proved_to_be_kept(
    result: CertificationResult,
) -> None:
    root = ET.fromstring(result.to_junit())
    failures, errors = len(root.findall(".//failure")), len(root.findall(".//error"))
    assert (failures == errors == 0) == (result.exit_code == 0)
    assert (failures > 0) == (result.exit_code == 1)
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.get("failures") == str(failures)
    assert suite.get("errors") == str(errors)
    assert suite.get("tests") == str(len(suite.findall("testcase")))


def test_proved_and_estimated_stand_apart() -> None:
    page = CertificationResult(CERTIFICATIONS["bounded"]()).to_html()
    (box,) = of_class(section(page, "proved"), "boxed")
    assert "Estimated by sampling, 95% confidence" in text(box)
    assert "4.6% to 5.6%" in text(box)
    assert "94.2%" not in text(box)
    tiles = re.search(r'<dl class="answers">.*?</dl>', page, re.DOTALL)
    assert tiles is not None
    assert "≥ 94.2%" in tiles.group()
    assert "1.09%" not in tiles.group()
    nothing = CertificationResult(CERTIFICATIONS["gate failed"]()).to_html()
    assert "Estimated by sampling" not in Outline(nothing).text


def test_rows_of_a_counterexample_differ_only_in_what_is_protected() -> None:
    summary = CERTIFICATIONS["bounded"]()
    frame = CertificationResult(summary).counterexamples
    assert list(frame.columns) == ["case", "proved", "age", "job", "race", "hours", "decision"]
    for _, case in frame.groupby("case"):
        assert (case.drop(columns=["race", "decision"]).nunique() == 1).all()
        assert case["decision"].nunique() > 1
    rows = re.findall(r"<tr[^>]*>.*?</tr>", CertificationResult(summary).to_html(), re.DOTALL)
    blue = next(row for row in rows if ">Blue<" in row)
    assert 'class="emphasis"' in blue
    assert Outline(blue).text == "Blue >50K 0.032 34 cook 40"


def test_the_rows_of_a_case_stand_together() -> None:
    page = CertificationResult(CERTIFICATIONS["bounded"]()).to_html()
    cases = list(section(page, "cases").iter("tbody"))
    assert [[text(row[0]) for row in case] for case in cases] == [["1", "", ""], ["2", "", ""]]
    for case in cases:
        first, *others = ([text(cell) for cell in row[4:]] for row in case)
        assert all(row == first for row in others)
        assert [len(list(of_class(row, "repeated"))) for row in case] == [0, 3, 3]


def test_the_regions_as_csv(tmp_path: Path) -> None:
    result = CertificationResult(CERTIFICATIONS["bounded"]())
    written = result.write(tmp_path, ("csv", "junit"))
    assert [path.name for path in written] == ["regions.csv", "junit.xml"]
    frame = pd.read_csv(written[0])
    assert frame["region"].tolist() == [region.text for region in result.summary.regions]
    parts = frame[["proved_fair", "proved_unfair", "undecided"]].sum(axis=1)
    assert (parts <= frame["share"] + 1e-12).all()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'pdf' is unknown"):
        CertificationResult(CERTIFICATIONS["bounded"]()).write(tmp_path, ["pdf"])


def test_a_saved_result_is_rendered_again_with_the_same_exit_code(tmp_path: Path) -> None:
    CertificationResult(CERTIFICATIONS["not enough"]()).write(tmp_path, ["json", "html"])
    first = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report(tmp_path / "result.json") == 3
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == first


def test_figures_of_the_result_are_those_of_the_document() -> None:
    result = CertificationResult(CERTIFICATIONS["bounded"]())
    assert (result.certified, result.falsified, result.undecided) == (0.94281, 0.00862, 0.04857)
    assert result.estimated == (0.0105, 0.0117)
    assert "94.2%" in repr(result)


def test_texts_are_escaped_in_every_view() -> None:
    inputs = (
        IntegerInput("age", 17, 90),
        CategoryInput(EVIL, ("clerk", "cook", EVIL, "farmer")),
        CategoryInput("race", ("Amber", EVIL, "Crimson")),
        IntegerInput("hours", 1, 99),
    )
    found = bounded(
        domain=domain(name=EVIL, inputs=inputs),
        network=network(labels=(EVIL, "\x00yes")),
        regions=(),
    )
    result = CertificationResult(summarise_certification(found))
    assert EVIL not in result.to_html()
    assert "&lt;script&gt;" in result.to_html()
    assert EVIL not in result.to_markdown()
    ET.fromstring(result.to_junit())


@pytest.mark.parametrize("make", [enumerated, bounded], ids=["enumerated", "bounded"])
def test_many_inputs_and_values_do_not_break_a_view(make: Callable[..., object]) -> None:
    summary: CertificationSummary = summarise_certification(
        make(regions=bounded().regions * 10)  # type: ignore[arg-type]
    )
    page = CertificationResult(summary).to_html()
    assert "20 regions with all shares" in page
    folded_sections = page.count('class="folded')
    assert Outline(page).tags["details"] == 1 + folded_sections
