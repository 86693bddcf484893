from .distribution import InputDistribution as InputDistribution
from .distribution import TableRow as TableRow
from .distribution import checked_costs as checked_costs
from .log import InputLog as InputLog
from .log import read_log as read_log
