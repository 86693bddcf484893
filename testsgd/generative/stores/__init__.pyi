from .find import open_store as open_store
from .memory import MemoryStore as MemoryStore
from .protocol import Change as Change
from .protocol import Store as Store
from .protocol import Written as Written
from .sqlite import SQLiteStore as SQLiteStore
