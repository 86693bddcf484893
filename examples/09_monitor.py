"""Watch over an emergency room: of the ill of both groups, equally many should be called urgent.

Run it with: python examples/09_monitor.py
"""

import random
from pathlib import Path

import testsgd

DAY = 86_400
SPECIFICATION = {
    "name": "emergency room",
    "events": {"decision": "urgent", "label": "ill"},
    "groups": {"names": ["young", "old"]},
    # Who is ill is known within a week. Of whom nothing is heard by then is not ill.
    "trials": {"deadline": "7 d", "without_label": 0},
    "properties": [{"property": "equal_opportunity", "bound": 0.1}],
}
state = Path("emergency.json")
state.unlink(missing_ok=True)  # or the monitor would go on where it stopped

# Every ten minutes a patient; old ones who are ill are called urgent less often.
random.seed(1)
events = []
for number in range(3000):
    group, ill = random.choice(["young", "old"]), random.random() < 0.4
    urgent = random.random() < ({"young": 0.9, "old": 0.65}[group] if ill else 0.2)
    arrival = 600 * number
    events.append({"id": number, "group": group, "urgent": urgent, "time": arrival})
    if ill:
        events.append({"id": number, "ill": True, "time": arrival + random.uniform(0, 7) * DAY})
events.sort(key=lambda event: event["time"])

monitor = testsgd.load_monitor(SPECIFICATION)
for place, event in enumerate(events):
    if place == len(events) // 2:
        # A restart in between: the state has everything that is known.
        monitor.save(state)
        monitor = testsgd.load_monitor(SPECIFICATION, state=state)
    for alert in monitor.observe(event):
        low, high = alert.interval
        print(f"day {alert.time / DAY:.1f}: {alert.lowest} patients are called urgent less often")
        print(f"after {alert.trials} patients the bias is between {low:.3f} and {high:.3f}")

# No more events, but time goes on: the last deadlines pass.
monitor.advance(events[-1]["time"] + 8 * DAY)
for comparison in monitor.status().comparisons:
    for group in comparison.groups:
        print(f"{group.name}: {group.numerator} of {group.denominator} who were ill were urgent")
    print(f"{comparison.property.name}: {comparison.standing} the bound")
