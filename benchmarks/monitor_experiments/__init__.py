"""The experiments of the paper on stream-based monitoring of fairness, section 5.

``python -m benchmarks.monitor_experiments`` runs them, and writes the tables and the figures of
docs/monitoring.md.
"""
