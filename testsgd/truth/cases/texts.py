"""Cases of texts: models that mind every term alike, or the only one of a category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from testsgd.auditing import AuditResult, audit
from testsgd.auditing.report.controls import largest_control_effect
from testsgd.data import specification_from_mapping
from testsgd.data.text import terms_from_mapping
from testsgd.truth.cases.frame import TWIN, Audited, Case
from testsgd.truth.catalogue import LIMIT

_TEXTS = 600
_WORDS = ("table", "chair", "lamp", "stands", "near", "door", "window", "very", "nice", "bad")
_FAITHS = ("buddhist", "hindu", "sikh")
_NATIONS = ("finnish",)
_SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "comments"},
        "text": {},
        "label": {"column": "flag", "favourable": "kept", "values": ["flagged", "kept"]},
    }
)

_Categories = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class _TextCase:
    """Texts of random words, and a model that flags those with certain terms."""

    categories: _Categories  # The terms, by category; two in five texts mention one of each.
    flagged: frozenset[str]  # Those that the model flags; the truth is an effect of about -80.

    def audit(self, generator: np.random.Generator) -> Audited:
        """Draw texts, audit the model, and return the true size of what is claimed."""
        texts = [self._text(generator) for _ in range(_TEXTS)]
        terms = terms_from_mapping(
            {
                "terms": {"name": "faiths and nations"},
                "categories": {
                    name: {term: {"article": "a"} for term in listed}
                    for name, listed in self.categories.items()
                },
            }
        )
        result = audit(
            self._decide,
            texts,
            _SPECIFICATION,
            terms=terms,
            snippets=0,
            fail_above=LIMIT,
            stability=0,
            jobs=1,
        )
        return Audited(result, self._claims(result))

    def _text(self, generator: np.random.Generator) -> str:
        chosen = list(generator.choice(_WORDS, 6))
        for terms in self.categories.values():
            if generator.random() < 0.4:
                place = int(generator.integers(0, len(chosen) + 1))
                chosen.insert(place, str(generator.choice(terms)))
        return " ".join(chosen)

    def _decide(self, texts: list[str]) -> list[str]:
        return ["flagged" if self._flags(text) else "kept" for text in texts]

    def _flags(self, text: str) -> bool:
        words = text.split()
        # About one in five by its other words, whatever terms it mentions.
        other_words = "".join(word for word in words if word in _WORDS)
        by_chance = sum(ord(letter) * place for place, letter in enumerate(other_words)) % 5 == 0
        return by_chance or not self.flagged.isdisjoint(words)

    def _claims(self, result: AuditResult) -> list[float]:
        """Return the true size of what the headline claims; terms of a category are alike."""
        summary = result.summary
        claims = []
        controls = summary.terms.controls if summary.terms else None
        if (effect := largest_control_effect(controls)) is not None:
            minded = not self.flagged.isdisjoint(self.categories[effect.category])
            claims.append(0.8 if minded and effect.difference < 0 else 0.0)
        for group in summary.groups[:1]:
            if group.counterfactual is not None:
                low, high = group.counterfactual.confidence_interval
                if low > 0 or high < 0:
                    claims.append(0.0)
        return claims


def _with_twin(
    name: str, title: str, *, categories: _Categories, flagged: tuple[str, ...]
) -> tuple[Case, Case]:
    """Return a case, and its twin, whose model minds no term."""

    def case(suffix: str, words: str, minded: tuple[str, ...]) -> Case:
        text_case = _TextCase(categories=categories, flagged=frozenset(minded))
        planted = bool(minded)
        return Case(
            name=name + suffix,
            title=words,
            rows=_TEXTS,
            audit=text_case.audit,
            planted=planted,
            beyond=planted,
        )

    twin = f"the texts and options of `{name}`, and the model minds no term"
    return case("", title, flagged), case(TWIN, twin, ())


CASES: tuple[Case, ...] = (
    *_with_twin(
        "every-term",
        "texts: the model flags every text with any term of the only category",
        categories={"faith": _FAITHS},
        flagged=_FAITHS,
    ),
    *_with_twin(
        "lone-term",
        "texts: of two categories the model minds the one that has a single term",
        categories={"faith": _FAITHS, "nation": _NATIONS},
        flagged=_NATIONS,
    ),
)
