"""The network as a model of texts: scores, decisions, and that no text changes another's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from made_up_network import WORDS, random_network, random_texts, random_weights

from testsgd.models import TextNetwork
from testsgd.models.files import Labels, SigmoidOutput
from testsgd.models.text import Vocabulary
from testsgd.models.text import network as module

TEXTS = random_texts(300)


def test_decisions_are_scores_above_the_threshold() -> None:
    scores = random_network().scores(TEXTS)
    assert ((scores > 0) & (scores < 1)).all()
    for threshold in (0.0, 0.3, 0.5, 0.8):
        network = random_network(threshold=threshold)
        assert network.threshold == threshold
        np.testing.assert_array_equal(network.decisions(TEXTS), scores > threshold)
    assert 0.1 < random_network().decisions(TEXTS).mean() < 0.9


def test_the_other_label_has_the_other_scores() -> None:
    positive, negative = random_network(), random_network(favourable="negative")
    np.testing.assert_allclose(negative.scores(TEXTS), 1 - positive.scores(TEXTS))
    np.testing.assert_array_equal(negative.decisions(TEXTS), ~positive.decisions(TEXTS))
    strict = random_network(favourable="negative", threshold=0.8)
    np.testing.assert_array_equal(strict.decisions(TEXTS), 1 - positive.scores(TEXTS) > 0.8)


def test_what_is_said_of_a_text_depends_on_no_other() -> None:
    network = random_network()
    together = network.decisions(TEXTS)
    alone = [network.decisions([text])[0] for text in TEXTS]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(network.decisions(TEXTS[::-1]), together[::-1])
    np.testing.assert_array_equal(network.decisions(TEXTS[7:20]), together[7:20])


@pytest.mark.parametrize("place", range(0, 300, 15))
def test_not_even_where_rounding_could_decide(place: int) -> None:
    # The threshold is one text's own score, as it is computed among the others: the least
    # difference in rounding would turn the decision.
    plain = random_network()
    score = float(plain.scores(TEXTS)[place])
    network = random_network(threshold=score)
    among = [network.decisions(TEXTS[start:])[place - start] for start in range(0, place + 1, 7)]
    alone = network.decisions([TEXTS[place]])[0]
    assert set(among) == {alone}


def test_no_texts() -> None:
    network = random_network()
    assert network.decisions([]).tolist() == []
    assert network.scores([]).shape == (0,)


def test_unknown_words_are_one_and_the_same_word() -> None:
    network = random_network()
    assert network.scores(["the one film"]) == network.scores(["the other film"])
    assert network.scores(["the one film"]) != network.scores(["the film"])
    assert network.scores(["THE film -- is: GOOD!"]) == network.scores(["the film is good"])


def test_only_the_middle_of_a_long_text_has_no_influence() -> None:
    network = random_network(longest=10)
    words = ["the"] * 12
    plain = network.scores([" ".join(words)])
    for place in range(12):
        changed = [*words[:place], "good", *words[place + 1 :]]
        same = network.scores([" ".join(changed)]) == plain
        assert same == (place in (5, 6))


def test_it_says_which_words_it_knows() -> None:
    network = random_network()
    assert all(network.knows(word) for word in (*WORDS, "Gay", "old actor"))
    assert not any(network.knows(word) for word in ("taoist", "old taoist", ""))


@pytest.mark.parametrize(("texts", "characters"), [(1, 1 << 24), (7, 100), (300, 50), (299, 10**9)])
def test_portions_do_not_matter(
    texts: int, characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = random_network().scores(TEXTS)
    monkeypatch.setattr(module, "_PORTION_TEXTS", texts)
    monkeypatch.setattr(module, "_PORTION_CHARACTERS", characters)
    np.testing.assert_allclose(random_network().scores(TEXTS), expected, rtol=0, atol=1e-6)
    assert random_network().scores(tuple(TEXTS)).shape == (300,)


def test_several_threads_may_ask_at_once() -> None:
    network = random_network()
    assert network.thread_safe
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(network.decisions, [TEXTS[n % 50 :] for n in range(40)]))
    expected = random_network().decisions(TEXTS)
    for n, answer in enumerate(answers):
        np.testing.assert_array_equal(answer, expected[n % 50 :])


def test_a_vocabulary_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="12"):
        TextNetwork(
            random_weights(),
            Vocabulary(WORDS[1:], 30),
            sigmoid=SigmoidOutput(Labels("positive", "negative"), "positive", 0.5),
            name="mixed",
        )
