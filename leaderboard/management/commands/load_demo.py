from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.text import slugify

from leaderboard import results_file, services
from leaderboard.models import Method, Run

DEMO = Path(__file__).resolve().parents[2] / "demo"


class Command(BaseCommand):
    help = "Fill an empty site with real runs (leaderboard/demo), so that its first look shows something."

    def handle(self, *args: Any, **options: Any) -> None:
        if Run.objects.exists():
            return
        for entry in json.loads((DEMO / "manifest.json").read_text()):
            try:
                results = results_file.read(DEMO / entry["file"])
            except results_file.Unusable as unusable:  # made with another suite: nothing to show
                self.stderr.write(str(unusable))
                continue
            method, _ = Method.objects.get_or_create(
                slug=slugify(entry["method"]), defaults={"name": entry["method"], **entry["about"]}
            )
            services.import_run(method, entry["round"], results, {}, entry["file"])
        if options["verbosity"]:
            self.stdout.write(f"{Run.objects.count()} demo runs.")
