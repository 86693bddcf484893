"""The experiments of the paper on fairness shields, on the data sets of the catalogue.

``python -m benchmarks.shield_experiments`` trains the classifiers (their predictions are kept in
the cache), simulates, and writes the tables and the figure of docs/shields.md.
"""
