"""The report of a certification: one summary, its verdict and its layout."""
