"""How a frontier is written down, judged and laid out."""
