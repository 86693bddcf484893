"""Counter discrimination in training code: a classifier of scikit-learn around another one.

Run it with: python examples/07_mitigate_in_a_pipeline.py
"""

from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import testsgd

people = testsgd.generate_demo(rows=16_000, seed=3)
X, y = people.drop(columns="granted"), people["granted"]
training, held_out = slice(0, 8_000), slice(8_000, None)

# Categories are encoded inside, so that the samples are people, not numbers that stand for them.
learner = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["gender", "race", "housing", "purpose"]),
        remainder="passthrough",
    ),
    HistGradientBoostingClassifier(max_iter=60, learning_rate=0.2, min_samples_leaf=5),
)
alone = learner.fit(X[training], y[training])
classifier = testsgd.CounterSampleClassifier(
    learner, sensitive_features=["gender", "race", "age"], steps=2, random_state=0
)
classifier.fit(X[training], y[training])

print(f"Group: {classifier.group_}")
print(f"Samples added: {classifier.samples_added_:,}")
print("On 8,000 people that neither has seen:")
for name, model in (("without samples", alone), ("with samples", classifier)):
    result = testsgd.audit(model, people[held_out], "demo")
    score = result.groups.set_index("text").at[classifier.group_, "score"]
    accuracy = model.score(X[held_out], y[held_out])
    print(f"{name:<15}  score {score:.3f}, accuracy {accuracy:.1%}")
