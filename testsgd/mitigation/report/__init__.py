"""The report of a mitigation: one summary, its verdict and its layout."""
