"""The report of a monitor: one summary, its verdict and its layout."""
