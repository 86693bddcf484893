from .find import open_store as open_store
from .memory import MemoryStore as MemoryStore
from .postgresql import PostgreSQLStore as PostgreSQLStore
from .protocol import Change as Change
from .protocol import Store as Store
from .protocol import Written as Written
from .redis import RedisStore as RedisStore
from .sqlite import SQLiteStore as SQLiteStore
