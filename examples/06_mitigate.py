"""Retrain a scikit-learn model against the group it treats worst, and compare before and after.

Run it with: python examples/06_mitigate.py
"""

from sklearn.ensemble import HistGradientBoostingClassifier

import testsgd

people = testsgd.generate_demo(rows=8_000, seed=1)
features, granted = people.drop(columns="granted"), people["granted"]

model = HistGradientBoostingClassifier(
    categorical_features="from_dtype", max_iter=50, random_state=0
)
model.fit(features, granted)

# The model is audited, clones of it are fitted with more and more samples, and the best one is
# audited again. The model itself is not changed.
result = testsgd.mitigate(
    model, people, "demo", max_accuracy_drop=1.0, runs=2, compare="reweighing"
)

print(result.verdict.headline)
for sentence in result.verdict.sentences:
    print(sentence)
print()
for path in result.write("reports/my-model-mitigated"):
    print(f"Written: {path}")
# result.write_model("models/my-model-mitigated") writes the new model; it needs testsgd[skops].

# The samples, each with the row that it was made from, what was changed, and why it is there.
print()
print(result.samples.drop(columns=["group", "side"]).head(3).to_string(index=False))

# The same as a step of training code. What the columns mean is taken from the rows themselves.
classifier = testsgd.CounterSampleClassifier(
    model, sensitive_features=["gender", "race", "age"], max_accuracy_drop=1.0, random_state=0
)
classifier.fit(features, granted)
group = classifier.group_
print()
print(f"{group}: score {classifier.scores_before_[group]:.3f}", end=" before, ")
print(f"{classifier.scores_after_[group]:.3f} after, with {classifier.samples_added_} samples")
