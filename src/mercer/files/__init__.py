"""Files: machines, functions and kernels on disk, without any code in them."""

from mercer.files.atomic import replacing
from mercer.files.registry import register
from mercer.files.store import describe, load, save

__all__ = ["describe", "load", "register", "replacing", "save"]
