from .backward import NEVER as NEVER
from .backward import Transitions as Transitions
from .backward import induct as induct
from .backward import worst_case as worst_case
from .lattice import CounterLattice as CounterLattice
from .policy import Policy as Policy
from .policy import WindowedPolicy as WindowedPolicy
from .policy import window_width as window_width
