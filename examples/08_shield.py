"""Let an unfair model recommend and a shield decide: after 100 loans the bound holds.

Run it with: python examples/08_shield.py
"""

import random
from pathlib import Path

import testsgd

SPECIFICATION = {
    "name": "loans",
    "fairness": {"property": "demographic_parity", "bound": 0.1},
    "groups": {"names": ["female", "male"]},
    "horizon": {"length": 100},
}
journal = Path("loans.journal")
journal.unlink(missing_ok=True)  # or the shield would go on where it stopped

# A model that grants loans to men more often.
random.seed(1)
people = [random.choice(["female", "male"]) for _ in range(100)]
recommended = [int(random.random() < (0.3 if group == "female" else 0.6)) for group in people]

decided = []
shield = testsgd.synthesize_shield(SPECIFICATION, journal=journal)
for number, (group, recommendation) in enumerate(zip(people, recommended, strict=True)):
    if number == 50:
        # A restart in between: the journal has everything that was decided.
        shield.close()
        shield = testsgd.synthesize_shield(SPECIFICATION, journal=journal)
    decided.append(shield.decide(group, recommendation, event=f"applicant {number}"))
shield.close()

for words, granted in (("recommended", recommended), ("decided", decided)):
    loans = {"female": 0, "male": 0}
    for group, decision in zip(people, granted, strict=True):
        loans[group] += decision
    women, men = (loans[group] / people.count(group) for group in loans)
    print(f"{words}: loans for {women:.1%} of women and {men:.1%} of men")
print(f"bias {float(shield.bias):.3f}, {shield.interventions} of 100 recommendations changed")
