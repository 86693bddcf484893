"""Fairness over a stream of decisions."""
