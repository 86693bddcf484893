"""The report of a comparison: one summary, its verdict and its layout."""
