"""Audit a scikit-learn model on rows that it was not trained on, and write the reports.

Run it with: python examples/01_audit_your_model.py
"""

from sklearn.ensemble import HistGradientBoostingClassifier

import testsgd

# Any table will do; this one has loan applications and the decisions on them.
people = testsgd.generate_demo(rows=20_000, seed=1)
training, audited = people.iloc[:10_000], people.iloc[10_000:]

model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
model.fit(training.drop(columns="granted"), training["granted"])

# "demo" is the description of the columns; the next example has one of its own.
result = testsgd.audit(model, audited, "demo")

print(result.verdict.headline)
print()
for group in result.distinct.head(3).itertuples():
    print(
        f"{group.difference * 100:+5.1f} points, between {group.ci_low * 100:+.1f} and "
        f"{group.ci_high * 100:+.1f}: {group.text} ({group.n_in:,} rows)"
    )
print()
for path in result.write("reports/my-model"):
    print(f"Written: {path}")
