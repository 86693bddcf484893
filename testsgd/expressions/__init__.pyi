from .expression import Expression as Expression
from .expression import parse as parse
from .syntax import is_expression as is_expression
from .syntax import quoted as quoted
