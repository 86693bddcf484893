from .call import compare as compare
from .outcome import Comparison as Comparison
from .report.summary import ComparisonSummary as ComparisonSummary
from .report.summary import ComparisonVerdict as ComparisonVerdict
from .result import ComparisonResult as ComparisonResult
