"""Read a saved result: with nothing but Python's own json, and back into testsgd.

Run it with: python examples/04_read_result.py reports/my-model/result.json
"""

import json
import sys
from pathlib import Path

import testsgd

path = Path(sys.argv[1] if len(sys.argv) > 1 else "reports/my-model/result.json")

# The document says which format it is in; its keys are listed in the docs, page "Reports".
document = json.loads(path.read_text(encoding="utf-8"))
assert document["schema"] == "testsgd.audit/2", document["schema"]

data, model = document["data"], document["model"]
print(f"{model['name']} on {data['rows']:,} rows of {data['title']}")
for group in document["groups"]:
    if group["distinct"] and group["score"] >= 0.1:
        print(f"{group['difference'] * 100:+6.1f} points  {group['text']}")

unknown = document["counts"]["undecided_small"] + document["counts"]["undecided_frequent"]
print(f"{unknown} groups could not be judged.")

# Any report can be rendered again from the document, without the data and without the model.
result = testsgd.AuditResult.from_json(path)
for written in result.write(path.parent / "again", formats=["html", "md"]):
    print(f"Written: {written}")
