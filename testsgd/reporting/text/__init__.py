"""Reporting texts: what is said and summed up of texts and their sensitive terms only."""
