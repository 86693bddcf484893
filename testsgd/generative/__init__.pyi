from .specification import GenerativeSpecification as GenerativeSpecification
from .specification import GroupingPart as GroupingPart
from .specification import Requirement as Requirement
