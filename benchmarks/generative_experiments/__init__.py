"""The experiments of the paper on conditional fairness of generative models."""
