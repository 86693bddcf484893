"""The search over boxes, and what is made of where it stopped."""

from testsgd.certification.search.best_first import BestFirst
from testsgd.certification.search.checkpoint import (
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from testsgd.certification.search.enumeration import enumerate_people, is_small
from testsgd.certification.search.looked_again import decided_points
from testsgd.certification.search.people import Answers, ask
from testsgd.certification.search.regions import regions_of_everybody, regions_of_search
from testsgd.certification.search.remainder import (
    Draws,
    draw_falsified,
    draw_open,
    draw_points,
)

__all__ = [
    "Answers",
    "BestFirst",
    "Draws",
    "ask",
    "decided_points",
    "draw_falsified",
    "draw_open",
    "draw_points",
    "enumerate_people",
    "fingerprint",
    "is_small",
    "read_checkpoint",
    "regions_of_everybody",
    "regions_of_search",
    "write_checkpoint",
]
