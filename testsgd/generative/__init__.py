"""Conditional fairness of generative models: what sequences of their outputs must show."""
