"""The report of an assessment: one summary, its verdict and its layout."""
