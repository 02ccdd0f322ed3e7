"""The site runs without torch and triton: the web process is small, and never compiles or runs a kernel."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SCRIPT = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "triton"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())

import django
django.setup()

import leaderboard
for module in pkgutil.walk_packages(leaderboard.__path__, "leaderboard."):
    importlib.import_module(module.name)

from leaderboard.celery import app
app.loader.import_default_modules()
assert "leaderboard.sweep" in app.tasks
from django.urls import get_resolver, reverse
get_resolver().url_patterns
reverse("leaderboard")

from tasks.registry import all_tasks, task_version
assert all_tasks()
for name, task in all_tasks().items():
    task_version(name)
    for case in task.timing:
        task.case_bytes(case), task.case_flops(case)

loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("torch", "triton"))
assert not loaded, loaded
print(len(all_tasks()), "tasks")
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )


def test_the_whole_site_imports_with_torch_and_triton_blocked():
    done = run(SCRIPT)
    assert done.returncode == 0, done.stderr
    assert "tasks" in done.stdout


def test_the_block_would_be_noticed():
    done = run(SCRIPT.replace("import leaderboard\n", "import leaderboard, torch\n", 1))
    assert done.returncode != 0
    assert "torch is blocked" in done.stderr
