from .find import refitter_for as refitter_for
from .protocol import Examples as Examples
from .protocol import Inputs as Inputs
from .protocol import Refitter as Refitter
from .protocol import Stage as Stage
from .protocol import Trainer as Trainer
