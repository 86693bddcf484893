"""The search over boxes, and what is made of where it stopped."""

from testsgd.certification.search.best_first import BestFirst
from testsgd.certification.search.checkpoint import (
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from testsgd.certification.search.enumeration import enumerate_people, is_small
from testsgd.certification.search.people import Answers, ask
from testsgd.certification.search.regions import regions_of_everybody, regions_of_search
from testsgd.certification.search.remainder import Draws, draw_points, draw_uncertified

__all__ = [
    "Answers",
    "BestFirst",
    "Draws",
    "ask",
    "draw_points",
    "draw_uncertified",
    "enumerate_people",
    "fingerprint",
    "is_small",
    "read_checkpoint",
    "regions_of_everybody",
    "regions_of_search",
    "write_checkpoint",
]
