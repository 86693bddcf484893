"""The network that reads attributes back from pictures."""

from __future__ import annotations

import numpy as np
import pytest
from portrait_modules import portraits

generator = portraits("generator")
reading = portraits("reading")
classifiers = portraits("classifiers")
drawing = portraits("drawing")


class FixedNetwork:
    """A network whose probabilities are given."""

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def predict(self, inputs, **_):
        assert inputs.shape[1:] == (64, 64, 3)
        return self.probabilities


def test_unsure_values_are_unreadable():
    probabilities = {
        "sex": [[0.9, 0.1], [0.4, 0.6]],
        "skin": [[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.1, 0.9]],
        "age": [[0.2, 0.7, 0.1], [0.1, 0.1, 0.8]],
        "clothes": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.25, 0.25]],
    }
    reader = reading.AttributeReader(FixedNetwork(probabilities), confidence=0.7)
    pictures = [drawing.png(np.zeros((side, side, 3), dtype=np.uint8)) for side in (64, 128)]
    labels = {name: numbers.tolist() for name, numbers in reader.labels(pictures).items()}
    assert labels == {"sex": [1, 0], "skin": [0, 4], "age": [2, 3], "clothes": [1, 0]}


def test_no_pictures_no_labels():
    labels = reading.AttributeReader(None).labels([])
    assert {name: len(numbers) for name, numbers in labels.items()} == dict.fromkeys(
        reading.READ, 0
    )


def test_pictures_of_other_sizes_are_refused():
    picture = drawing.png(np.zeros((60, 60, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match="60x60"):
        reading.AttributeReader(None).labels([picture])


@pytest.mark.slow
@pytest.mark.tensorflow
def test_a_short_training_reads_most_pictures_of_the_generator(tmp_path):
    pytest.importorskip("tensorflow")
    trained = reading.train(pictures=500, held_out=10, epochs=10, seed=1)
    trained.reader.save(tmp_path / "reader.keras")
    reader = reading.AttributeReader.load(tmp_path / "reader.keras", confidence=0.0)
    model = generator.Generator(random_state=3)
    portraits_shown = [model.generate("A person") for _ in range(150)]
    labels = reader.labels([one.picture for one in portraits_shown])
    for name, least in {"sex": 0.8, "skin": 0.85, "age": 0.8, "clothes": 0.9}.items():
        truth = [one.attributes.number(name) for one in portraits_shown]
        share = (labels[name] == truth).mean()
        assert share > least, name


@pytest.mark.slow
@pytest.mark.tensorflow
def test_the_committed_network_reads_what_the_generator_shows():
    pytest.importorskip("tensorflow")
    reader = reading.AttributeReader.load()
    model = generator.Generator(random_state=8)
    shown = [model.generate("A person") for _ in range(300)]
    labels = reader.labels([one.picture for one in shown])
    for name, least in {"sex": 0.95, "skin": 0.97, "age": 0.96, "clothes": 0.98}.items():
        truth = [one.attributes.number(name) for one in shown]
        share = (labels[name] == truth).mean()
        assert share > least, name

    one = shown[0]
    for name in reading.READ:
        value = getattr(classifiers, name)(one.picture)
        assert value == getattr(one.attributes, name)
