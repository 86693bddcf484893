"""Mistakes in a specification of conditional fairness: each is named by its key and its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from testsgd.errors import SpecificationError
from testsgd.generative import GenerativeSpecification

# What stands before the mistake; the mistake is in the last line of what is written behind it.
SEX = '[groupings.sex]\nvalues = ["f", "m"]\n'
JOB = '[groupings.job]\nvalues = ["nurse", "cook"]\n'
BOTH = SEX + JOB
FAIR = BOTH + '[[requirements]]\ngrouping = "sex"\n'
QUESTION = SEX + '[groupings.sex.question]\nupstream = "http://127.0.0.1:1/v1"\n'


def mistake(text: str) -> SpecificationError:
    with pytest.raises(SpecificationError) as caught:
        GenerativeSpecification.parse(text, where="fair.toml")
    return caught.value


MISTAKES = [
    # the whole
    ('nmae = "x"\n', "nmae"),
    ('name = ""\n', "name"),
    ("groupings = {}", "groupings"),
    (SEX + '[groupings]\n"a b" = { values = ["x", "y"] }', "groupings.a b"),
    (SEX + "[confidence]", "confidence"),
    # groupings
    ('[groupings.sex]\nvalues = ["f"]', "groupings.sex.values"),
    ('[groupings.sex]\nvalues = "fm"', "groupings.sex.values"),
    ('[groupings.sex]\nvalues = ["f", 1]', "groupings.sex.values.1"),
    ('[groupings.sex]\nvalues = ["f", " "]', "groupings.sex.values.1"),
    ('[groupings.sex]\nvalues = ["f", "f"]', "groupings.sex.values"),
    (SEX + 'reads = "input"', "groupings.sex.reads"),
    (SEX + 'several = "last"', "groupings.sex.several"),
    (SEX + 'neutral_without = "lady"', "groupings.sex.neutral_without"),
    (SEX + 'neutral_without = [""]', "groupings.sex.neutral_without.0"),
    (SEX + '[groupings.sex.terms]\nx = ["she"]', "groupings.sex.terms.x"),
    (SEX + '[groupings.sex.terms]\nf = "she"', "groupings.sex.terms.f"),
    (SEX + '[groupings.sex.terms]\nf = ["she", " "]', "groupings.sex.terms.f.1"),
    (SEX + '[groupings.sex.terms]\nf = ["she"]\nm = ["he", "She"]', "groupings.sex.terms.m.1"),
    ('[groupings.sex]\nvalues = ["f", "F"]', "groupings.sex.values.1"),
    (SEX + '[groupings.sex.ask]\nshout = { f = "F" }', "groupings.sex.ask.shout"),
    (SEX + '[groupings.sex.ask.prefix]\nm = "he"\nx = "it"', "groupings.sex.ask.prefix.x"),
    (SEX + "[groupings.sex.ask]\nprefix = { f = 'she' }", "groupings.sex.ask.prefix"),
    (SEX + 'classify = "a:b"\nquestion = { upstream = "x" }', "groupings.sex.question"),
    # questions
    (QUESTION + 'prompt = "{"', "groupings.sex.question.prompt"),
    (QUESTION + 'prompt = "{output} {person}"', "groupings.sex.question.prompt"),
    (QUESTION + 'prompt = "{output} {}"', "groupings.sex.question.prompt"),
    (QUESTION + 'prompt = "{output:d}"', "groupings.sex.question.prompt"),
    (QUESTION + 'prompt = "{grouping}"', "groupings.sex.question.prompt"),
    (QUESTION + "timeout = 0", "groupings.sex.question.timeout"),
    # requirements
    (BOTH + '[[requirements]]\ngrouping = "gender"', "requirements.0.grouping"),
    (FAIR + 'when = { jop = "cook" }', "requirements.0.when.jop"),
    (FAIR + 'when = { job = "smith" }', "requirements.0.when.job"),
    (FAIR + 'when = { sex = "f" }', "requirements.0.when.sex"),
    (FAIR + "beta = 0", "requirements.0.beta"),
    (FAIR + "beta = 6.5", "requirements.0.beta"),
    (FAIR + "beta = true", "requirements.0.beta"),
    (FAIR + 'beta = "6"', "requirements.0.beta"),
    (FAIR + "beta = 3\nbetas = { f = 3, m = 3 }", "requirements.0.betas"),
    (FAIR + "betas = { f = 3 }", "requirements.0.betas"),
    (FAIR + "betas = { f = 3, m = 3, x = 3 }", "requirements.0.betas.x"),
    (FAIR + "betas = { f = 3, m = 0 }", "requirements.0.betas.m"),
    (FAIR + "betta = 3", "requirements.0.betta"),
    # coverage
    (BOTH + '[coverage]\ngroupings = ["sex", "age"]', "coverage.groupings.1"),
    (BOTH + '[coverage]\ngroupings = ["sex", "sex"]', "coverage.groupings"),
    (BOTH + "[coverage]\nstrength = 0", "coverage.strength"),
    (BOTH + '[coverage]\ngroupings = ["sex", "job"]\nstrength = 3', "coverage.strength"),
    (BOTH + '[coverage]\nwhen = { age = "old" }', "coverage.when.age"),
    (BOTH + '[coverage]\nwhen = { job = "old" }', "coverage.when.job"),
    # enforcement
    (SEX + '[enforcement]\nlook_ahead = "none"', "enforcement.look_ahead"),
    (SEX + '[enforcement]\nway = "shout"', "enforcement.way"),
    (SEX + "[enforcement]\nobedience = 0", "enforcement.obedience"),
    (SEX + "[enforcement]\nobedience = 1.01", "enforcement.obedience"),
    (SEX + "[enforcement]\nobedience = nan", "enforcement.obedience"),
    (SEX + "[enforcement]\nmiss_probability = 1.0", "enforcement.miss_probability"),
    (SEX + "[enforcement]\ntries = -1", "enforcement.tries"),
    (SEX + "[enforcement]\ntries = 1.5", "enforcement.tries"),
    (SEX + "[enforcement]\noverlapping = 2", "enforcement.overlapping"),
    (SEX + '[enforcement]\noverlapping = "no"', "enforcement.overlapping"),
    (SEX + "[enforcement]\nticket_seconds = 0", "enforcement.ticket_seconds"),
    # the others
    (SEX + "[upstream]\nparameters = { day = 2020-01-01 }", "upstream.parameters"),
    (SEX + '[upstream]\nendpoint = "voice"', "upstream.endpoint"),
    (SEX + "[upstream]\ntimeout = -1", "upstream.timeout"),
    (SEX + '[neutrality]\nby = "guess"', "neutrality.by"),
    (SEX + "[neutrality]\nsamples = 0", "neutrality.samples"),
    (SEX + "[neutrality]\nerror = 0", "neutrality.error"),
    ("confidence = 95\n", "confidence"),
    ('prompts = "Draw a {sex}"\n', "prompts"),
    ('prompts = ["Draw", "a {age}"]\n', "prompts.1"),
    ('prompts = ["Draw {"]\n', "prompts.0"),
    ('prompts = ["Draw {}"]\n', "prompts.0"),
    ('prompts = ["Draw {sex:d}"]\n', "prompts.0"),
    ('prompts = ["Draw {sex:{job}}"]\n', "prompts.0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key"), MISTAKES)
def test_a_mistake(text: str, key: str) -> None:
    line = len(text.splitlines())
    # What belongs to no table stands at the top.
    error = mistake(text if "groupings" in text else text + SEX)
    assert error.what.split(":")[0] == key
    assert error.where == f"fair.toml, line {line}"
    assert "\n" not in str(error)
    assert error.remedy


def test_two_requirements_of_one_name() -> None:
    error = mistake(FAIR + "beta = 3\n" + '[[requirements]]\ngrouping = "sex"\nbeta = 4')
    assert error.what.startswith("requirements")


@pytest.mark.parametrize(
    "text",
    ["", 'name = "x"', "[groupings.sex]", FAIR + "[[requirements]]\nbeta = 2", QUESTION[:-9]],
)
def test_what_is_missing_or_no_toml_is_one_line(text: str) -> None:
    error = mistake(text)
    assert error.where.startswith("fair.toml")
    assert "\n" not in str(error)


def test_the_order_of_mistakes_does_not_hide_any() -> None:
    error = mistake(SEX + "colour = 1\n[enforcement]\ntries = -1\nway = 3")
    assert len(error.details["mistakes"]) == 3


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError) as caught:
        GenerativeSpecification.of(tmp_path / "none.toml")
    assert "\n" not in str(caught.value)
    assert "none.toml" in caught.value.where
