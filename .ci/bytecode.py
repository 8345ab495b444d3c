"""Imports every module of fabriclab, so that Python keeps the bytecode of the libraries that they use.

To compile whole libraries instead, tests and all, takes ten times as long.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil

import fabriclab

for module in pkgutil.walk_packages(fabriclab.__path__, "fabriclab."):
    # What belongs to an extra may lack its library.
    if not module.name.endswith("__main__"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)
