from .monitor import Monitor as Monitor
from .status_summary import ComparisonStatus as ComparisonStatus
from .status_summary import GroupStatus as GroupStatus
from .status_summary import MonitorStatus as MonitorStatus
from .status_summary import Standing as Standing
