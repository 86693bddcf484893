"""Where an enforcer keeps its state: in memory, a file of SQLite, Redis or PostgreSQL.

Every store keeps one small text a key, changes several keys at once or none of them, and has a
journal of lines that are added in the same transactions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
