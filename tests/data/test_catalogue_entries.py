"""The catalogue: every data set is described whole and as its publishers and the paper say."""

from __future__ import annotations

import re

import pytest

from testsgd.data import (
    PLANTED_GROUP,
    DatasetSpecification,
    TextSpecification,
    catalogue,
    load_specification,
)

TEXTS = ["imdb", "tweets", "wiki", "wikitalk"]
TABLES = ["bank", "census", "compas", "credit", "crime", "demo", "law"]
NAMES = [*TABLES, *TEXTS]
PUBLISHED = [name for name in NAMES if name != "demo"]
PUBLISHED_TABLES = [name for name in TABLES if name != "demo"]

# Figshare gives none.
WITHOUT_SHA256 = ["toxicity_annotated_comments.tsv", "toxicity_annotations.tsv"]

SENSITIVE = {
    "bank": {"age"},
    "census": {"gender", "race", "age"},
    "compas": {"sex", "race", "age"},
    "credit": {"gender", "age"},
    "crime": {
        *("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"),
        *("agePct12t21", "agePct12t29", "agePct16t24", "agePct65up"),
        *("MalePctDivorce", "FemalePctDiv"),
    },
    "demo": {"gender", "race", "age"},
    "law": {"race1", "gender"},
}

# The paper's Tables 3, 4 and 5: accuracy, top fairness score, rule sets, seconds.
PAPER = {
    "census": (0.8613, 0.202, 880, 869.35),
    "bank": (0.9162, 0.382, 34, 141.52),
    "credit": (1.0, 0.219, 53, 104.85),
    "compas": (0.7899, 0.624, 1590, 908.5),
    "law": (0.9519, 0.150, 17, 18.46),
    "crime": (0.9252, 0.607, 13282, 29150.01),
    "imdb": (0.8668, 0.066, 876, 69125.16),
    "wiki": (0.9389, 0.065, 732, 34982.28),
    "wikitalk": (0.9389, 0.065, 732, 34982.28),
}


def test_the_catalogue_is_complete_and_in_order() -> None:
    assert list(catalogue()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_has_the_name_of_its_file(name: str) -> None:
    assert load_specification(name).name == name == catalogue()[name].stem


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_is_of_rows_or_of_texts(name: str) -> None:
    kind = TextSpecification if name in TEXTS else DatasetSpecification
    assert type(load_specification(name)) is kind


@pytest.mark.parametrize("name", TABLES)
def test_the_sensitive_features_are_those_expected(name: str) -> None:
    assert set(load_specification(name).sensitive) == SENSITIVE[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_says_what_it_is(name: str) -> None:
    specification = load_specification(name)
    identity, label = specification.dataset, specification.label
    assert identity.title
    assert identity.description.endswith((".", "?"))
    assert identity.licence
    assert label.meaning
    assert label.values is not None
    assert len(label.values) == 2
    assert label.favourable in label.values


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_file_has_an_address_and_a_sha256(name: str) -> None:
    specification = load_specification(name)
    assert specification.dataset.citation
    assert specification.dataset.homepage.startswith("https://")
    assert specification.files
    for file in specification.files:
        assert file.url is not None
        assert file.url.startswith("https://")
        assert (file.sha256 is None) == (file.name in WITHOUT_SHA256)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert all(version.sha256 is not None for version in file.alternatives)
        assert (file.member is not None) == file.url.endswith(".zip")


@pytest.mark.parametrize("name", PAPER)
def test_the_figures_of_the_paper_are_copied_rightly(name: str) -> None:
    paper = load_specification(name).paper
    assert paper is not None
    figures = (paper.accuracy, paper.top_score, paper.rule_sets, paper.seconds)
    assert figures == PAPER[name]
    assert paper.top_group


def test_the_tweets_are_not_in_the_paper() -> None:
    assert load_specification("tweets").paper is None
    assert set(PAPER) == set(PUBLISHED) - {"tweets"}


@pytest.mark.parametrize("name", PUBLISHED_TABLES)
def test_no_feature_is_read_from_the_label_column(name: str) -> None:
    specification = load_specification(name)
    columns = [specification.column_of(feature) for feature in specification.features]
    assert specification.label.column not in columns
    assert len(set(columns)) == len(columns), "no two features are read from one column"
    if specification.parse.columns is not None:
        assert set(columns) <= set(specification.parse.columns)
        assert specification.label.column in specification.parse.columns


# What follows from the outcome, or is it in other words, and so must be no feature.
OUTCOMES = {
    "compas": {"two_year_recid", "is_recid", "decile_score", "v_decile_score", "is_violent_recid"},
    "crime": {"state", "county", "community", "communityname", "fold"},
    "law": {"bar", "bar1", "bar2", "bar_passed", "index6040", "dnn_bar_pass_prediction"},
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_no_feature_gives_the_outcome_away(name: str) -> None:
    specification = load_specification(name)
    columns = {specification.column_of(feature) for feature in specification.features}
    assert not columns & OUTCOMES[name]


def test_the_demo_is_generated_and_its_planted_group_is_made_of_its_sensitive_features() -> None:
    specification = load_specification("demo")
    assert specification.dataset.generator == "demo"
    assert not specification.files
    assert all(name in PLANTED_GROUP for name in specification.sensitive)
