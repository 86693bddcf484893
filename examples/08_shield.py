"""Let an unfair model recommend and a shield decide: after 100 loans the bound holds.

Run it with: python examples/08_shield.py
"""

import random
import tempfile
from pathlib import Path

import testsgd

SPECIFICATION = {
    "name": "loans",
    "fairness": {"property": "demographic_parity", "threshold": 0.1},
    "groups": {"names": ["female", "male"]},
    "horizon": {"length": 100},
}


def recommend(group: str) -> int:
    """Recommend like a model that grants loans to men more often."""
    return int(random.random() < (0.3 if group == "female" else 0.6))


def main() -> None:
    random.seed(1)
    people = [random.choice(["female", "male"]) for _ in range(100)]
    recommendations = [recommend(group) for group in people]
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "loans.journal"
        shield = testsgd.synthesize_shield(SPECIFICATION, journal=journal)
        decisions = []
        for number, (group, wanted) in enumerate(zip(people, recommendations, strict=True)):
            if number == 50:
                # A restart in between: the journal has everything that was decided.
                shield.close()
                shield = testsgd.synthesize_shield(SPECIFICATION, journal=journal)
            decisions.append(shield.decide(group, wanted, event=f"applicant {number}"))
        shield.close()
    for words, granted in (("recommended", recommendations), ("decided", decisions)):
        rates = [
            sum(one for one, group in zip(granted, people, strict=True) if group == name)
            / people.count(name)
            for name in ("female", "male")
        ]
        print(f"{words}: {rates[0]:.1%} of women, {rates[1]:.1%} of men")
    print(f"bias {float(shield.bias):.3f}, {shield.interventions} of 100 recommendations changed")


if __name__ == "__main__":
    main()
