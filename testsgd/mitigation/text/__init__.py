"""Mitigation for texts: what only texts need."""
