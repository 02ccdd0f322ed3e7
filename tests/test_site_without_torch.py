"""The web process never imports torch or triton: it must run where neither is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "triton"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
import leaderboard.wsgi
import leaderboard
for module in pkgutil.walk_packages(leaderboard.__path__, "leaderboard."):
    importlib.import_module(module.name)

from django.urls import get_resolver
from leaderboard.celery import app
import tasks.registry

assert get_resolver().url_patterns
app.loader.import_default_modules()
assert "leaderboard.sweep" in app.tasks
print("imported")
"""


def test_the_whole_site_is_imported_with_torch_and_triton_blocked() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=os.environ, capture_output=True, text=True
    )
    assert result.stdout == "imported\n", result.stderr
