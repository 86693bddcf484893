"""Audit a model of one's own on data of one's own: a CSV file, its description, a function.

Run it with: cd examples && python 02_own_data.py
On the command line: testsgd audit loans.toml --data loans.csv --model loan_model:score
"""

from pathlib import Path

import numpy as np
import pandas as pd

import testsgd

HERE = Path(__file__).parent


def make_rows(path: str, rows: int = 4_000) -> None:
    """Write a file as a bank might have it, with codes, test cases and missing values."""
    generator = np.random.default_rng(7)
    income = generator.lognormal(10.3, 0.5, rows).astype(int).clip(0, 500_000).astype(object)
    income[generator.random(rows) < 0.02] = "n/a"
    people = pd.DataFrame(
        {
            "status": generator.choice(["closed", "test"], rows, p=[0.98, 0.02]),
            "sex": generator.choice(["F", "M"], rows),
            "age": generator.integers(18, 90, rows),
            "income": income,
            "debt_ratio": generator.beta(2, 5, rows).round(2),
            "job": generator.choice(["none", "part time", "full time"], rows, p=[0.1, 0.3, 0.6]),
            "decision": generator.integers(0, 2, rows),
        }
    )
    people.to_csv(path, sep=";", index=False)


make_rows("loans.csv")

# The description names the columns, their values, what is sensitive and what is compared.
specification = testsgd.load_specification(HERE / "loans.toml")
table = testsgd.load_table(specification, file="loans.csv")
print(f"{len(table):,} rows; missing: {table.missing}")

result = testsgd.audit("loan_model:score", "loans.csv", specification)
print(result.verdict.headline)
for path in result.write("reports/loans", formats=["html", "md", "json", "csv"]):
    print(f"Written: {path}")
