"""The report of shields: one summary, its verdict and its layout."""
