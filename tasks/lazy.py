"""A stand-in for torch that imports it at first use.

Task files say `from tasks.lazy import torch`, so that the registry, and with it the web process, loads
all tasks without torch being installed.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _LazyModule(ModuleType):
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, value)
            return value

    torch = _LazyModule("torch")
