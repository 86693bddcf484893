"""Reporting tables: what is said and summed up of rows only."""
