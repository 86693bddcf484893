"""The report of an audit: one summary, its verdict and its layout."""
