from .property import NAMED_PROPERTIES as NAMED_PROPERTIES
from .property import EmptyGroup as EmptyGroup
from .property import FairnessProperty as FairnessProperty
from .property import Measure as Measure
from .property import PropertyName as PropertyName
from .property import bias as bias
