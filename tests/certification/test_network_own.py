"""Networks of ``testsgd train`` and .nnet files, and what the inputs' columns are bounded by."""

from __future__ import annotations

import shutil
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from testsgd.certification.network import CategoryColumns, find_network
from testsgd.data import DatasetSpecification, Table, bundled_folder
from testsgd.errors import ModelError, ParameterError
from testsgd.models import LoadedModel, NetworkModel, load_model

# The worked example of the paper, in the format's layout.
EXAMPLE = """// the networks of three inputs and two units
2,3,1,3,
3,2,1,
0,
1,0,0,
5,1,5,
3,0.5,2.5,0.5,
4,1,5,1,
2.0,0.5,1.2,
-0.2,0.7,0.4,
0,
0,
0.2,-1.0,
0,
"""


def _coded(table: Table, rows: int = 2000) -> tuple[Table, np.ndarray]:
    """Give people without missing cells as a domain has them: categories by index."""
    frame = table.frame.dropna().head(rows)
    columns = []
    for name, feature in table.specification.features.items():
        if feature.continuous:
            columns.append(frame[name].to_numpy(dtype=float))
        else:
            places = {value: place for place, value in enumerate(feature.values or ())}
            columns.append(frame[name].astype(str).map(places).to_numpy(dtype=float))
    return frame, np.column_stack(columns)


@pytest.mark.parametrize("favourable", ["yes", "no"])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_our_own_network_decides_as_the_audit_asks_it(
    demo_table: Table,
    demo_specification: DatasetSpecification,
    favourable: str,
    threshold: float | None,
) -> None:
    frame, coded = _coded(demo_table)
    label = demo_specification.label.model_copy(update={"favourable": favourable})
    specification = demo_specification.model_copy(update={"label": label})
    model = load_model("demo", specification, threshold=threshold or 0.5).model
    network = find_network("demo", specification=specification, threshold=threshold)
    assert isinstance(model, NetworkModel)
    assert network.decision.labels == ("no", "yes")
    assert (network.encode(coded) == model.encoding.encode(frame)).all()
    np.testing.assert_allclose(
        network.sums(coded)[:, 0],
        model.output_sums(model.encoding.encode(frame)),
        rtol=1e-4,
        atol=1e-5,
    )
    given = network.decisions(coded) == (1 if favourable == "yes" else 0)
    assert (given == model.decisions(frame)).mean() > 0.999
    assert 0 < given.mean() < 1


def test_a_network_is_found_by_its_data_set(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    network = find_network(None, specification=demo_specification)
    assert network.name == "demo"
    assert [given.name for given in network.inputs] == list(demo_specification.features)
    path = bundled_folder("models") / "demo" / "model.keras"
    assert find_network(path).file_sha256 == network.file_sha256


def test_one_that_takes_the_place_of_a_shipped_one_goes_by_its_file(
    demo_specification: DatasetSpecification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "models" / "demo"
    shutil.copytree(bundled_folder("models") / "demo", own)
    monkeypatch.chdir(tmp_path)
    assert find_network(None, specification=demo_specification).name == "demo"
    with zipfile.ZipFile(own / "model.keras", "a") as archive:
        archive.comment = b"another file"
    # The card is of the file that was there.
    (own / "card.json").unlink()
    assert find_network(None, specification=demo_specification).name == str(
        Path("models/demo/model.keras")
    )


def test_its_columns_stay_within_their_bound(demo_model: LoadedModel) -> None:
    """Compare with fractions: the exact scaling, and what the model makes of it in float32."""
    network = find_network("demo")
    age = next(given for given in network.inputs if given.name == "age").columns
    assert not isinstance(age, CategoryColumns)
    place = 2 + 1 + 4 + 1
    values = np.random.default_rng(0).uniform(-1e4, 1e4, 500)
    people = np.zeros((500, len(network.inputs)))
    people[:, 2] = values
    made = network.encode(people)[:, place]
    errors = np.broadcast_to(age.absolute_error, 2)
    for value, column in zip(values, made, strict=True):
        product = Fraction(value) * Fraction(float(age.multiplier[0]))
        exact = product + Fraction(float(age.constant[0]))
        allowed = Fraction(age.relative_error) * abs(product) + Fraction(float(errors[0]))
        allowed += (abs(exact) + allowed) * Fraction(2) ** -24
        assert abs(Fraction(float(column)) - exact) <= allowed


def test_the_papers_example_is_read(tmp_path: Path) -> None:
    path = tmp_path / "example.nnet"
    path.write_text(EXAMPLE)
    network = find_network(path)
    assert (network.precision, network.kind) == ("float64", ".nnet network")
    # Of the paper: <5, 0, 5> and <5, 1, 5> get the positive label, <1, 1, 3> the negative one.
    people = np.array([[5.0, 0, 5], [5, 1, 5], [1, 1, 3]])
    assert network.decisions(people).tolist() == [1, 1, 0]
    assert network.decision.tolerance == 0


@pytest.mark.parametrize(
    "change", [("3,2,1,", "3,2,2,"), ("-0.2,0.7,0.4,", "-0.2,0.7,"), ("0.2,-1.0,", "much,more,"),
               ("3,2,1,", "3,200000000,1,"), ("-0.2", "nan")],
)  # fmt: skip
def test_an_nnet_file_that_does_not_fit_is_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    path = tmp_path / "example.nnet"
    path.write_text(EXAMPLE.replace(*change))
    with pytest.raises(ModelError, match=r"example\.nnet"):
        find_network(path)


def test_columns_of_a_network_that_knows_its_categories_are_refused() -> None:
    with pytest.raises(ParameterError, match="knows its categories"):
        find_network("demo", categories={"race": [0, 1]})


def test_networks_of_texts_are_refused() -> None:
    with pytest.raises(ModelError, match="of texts"):
        find_network("imdb")


@pytest.mark.parametrize("positions", [[0, 9], [0, 0], [], [-1]])
def test_columns_that_do_not_exist_are_refused(tmp_path: Path, positions: list[int]) -> None:
    path = tmp_path / "example.nnet"
    path.write_text(EXAMPLE)
    with pytest.raises(ParameterError, match="'race'"):
        find_network(path, categories={"race": positions})


def test_a_category_takes_the_place_of_its_first_column(tmp_path: Path) -> None:
    path = tmp_path / "example.nnet"
    path.write_text(EXAMPLE)
    network = find_network(path, categories={"race": [2, 1]})
    assert [given.name for given in network.inputs] == ["x0", "race"]
    raw = np.array([[4.0, 0, 1], [4, 1, 0]])
    coded = np.array([[4.0, 0], [4, 1]])
    np.testing.assert_array_equal(network.sums(coded), find_network(path).sums(raw))
