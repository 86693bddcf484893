"""Experiments on conditional fairness of generative models."""
