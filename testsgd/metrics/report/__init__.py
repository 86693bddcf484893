"""How the result of an audit of metrics is written down."""
