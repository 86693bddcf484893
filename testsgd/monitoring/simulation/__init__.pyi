from .call import simulate_monitor as simulate_monitor
from .report.summary import MonitorSimulationSummary as MonitorSimulationSummary
from .result import MonitorSimulationResult as MonitorSimulationResult
