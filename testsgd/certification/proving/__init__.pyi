from .axes import Axes as Axes
from .box_bounds import BoxBounds as BoxBounds
from .half_spaces import counted_points as counted_points
from .problem import Problem as Problem
from .problem import build_problem as build_problem
from .prover import Prover as Prover
