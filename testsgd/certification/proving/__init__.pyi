from .axes import Axes as Axes
from .half_spaces import RoundedHalfSpace as RoundedHalfSpace
from .half_spaces import counted_points as counted_points
from .half_spaces import round_half_space as round_half_space
from .problem import Problem as Problem
from .problem import build_problem as build_problem
from .prover import BoxBounds as BoxBounds
from .prover import Prover as Prover
