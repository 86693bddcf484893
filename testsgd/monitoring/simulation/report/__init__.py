"""The report of a simulation of a monitor."""
