"""Retrain a scikit-learn model against the group it treats worst, and compare before and after.

Run it with: python examples/06_mitigate.py
"""

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PolynomialFeatures
from sklearn.preprocessing import StandardScaler as Scaler

import testsgd

people = testsgd.generate_demo(rows=10_000, seed=1)
features, granted = people.drop(columns="granted"), people["granted"]

# A regression that can tell women of one race and age from all others.
who = make_column_transformer(
    (OneHotEncoder(), ["gender", "race"]), (KBinsDiscretizer(6, strategy="uniform"), ["age"])
)
cells = make_pipeline(who, PolynomialFeatures(3, interaction_only=True))
encode = make_column_transformer(
    (cells, ["gender", "race", "age"]),
    (OneHotEncoder(), ["housing", "purpose"]),
    remainder=Scaler(),
)
model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(features, granted)

# The model is audited, clones of it are fitted with more and more samples, and the best one is
# audited again. The model itself is not changed. The arguments with names make it quick.
result = testsgd.mitigate(
    model, people, "demo", samples="odds", steps=2, runs=1, compare="reweighing"
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
