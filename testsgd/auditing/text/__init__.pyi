from .findings import Counterfactual as Counterfactual
from .findings import TextFindings as TextFindings
from .fixed_groups import TermGroup as TermGroup
from .fixed_groups import TermGroupMeasure as TermGroupMeasure
from .observed import text_clusters as text_clusters
from .run import run_text_audit as run_text_audit
