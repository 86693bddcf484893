from .alert import Alert as Alert
from .alert import AlertedGroup as AlertedGroup
from .alert import Given as Given
from .comparison import Comparison as Comparison
from .comparison import TrajectoryPoint as TrajectoryPoint
from .comparison import WindowStatus as WindowStatus
from .property_judge import PropertyJudge as PropertyJudge
