from .replacement import Replacer as Replacer
