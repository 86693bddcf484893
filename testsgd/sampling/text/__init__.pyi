from .removal import REMOVED as REMOVED
from .removal import without_removed as without_removed
from .replacement import Replacer as Replacer
