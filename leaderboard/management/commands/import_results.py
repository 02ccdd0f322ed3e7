from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluator.upload import UploadError, parse
from leaderboard import results_file, services
from leaderboard.models import Method


class Command(BaseCommand):
    help = (
        "Take over a run from a results file of `python -m evaluator`. The same file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="results.json or results.json.gz")
        parser.add_argument("--method", required=True, help="the method's name; made if it does not exist")
        parser.add_argument("--round", type=int, default=0)
        parser.add_argument("--kind", choices=Method.Kind.values, default=Method.Kind.SINGLE_PASS)
        parser.add_argument("--base-model", default="")
        parser.add_argument("--kernels", type=Path, help="the uploaded file, to show its sources")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            results = results_file.read(options["file"])
            sources = _sources(options["kernels"]) if options["kernels"] else {}
            method, _ = Method.objects.get_or_create(
                name=options["method"],
                defaults={
                    "slug": services.free_slug(options["method"]),
                    "kind": options["kind"],
                    "base_model": options["base_model"],
                },
            )
            run = services.import_run(method, options["round"], results, sources, options["file"].name)
        except (results_file.Unusable, services.Refused) as error:
            raise CommandError(str(error)) from error
        if options["verbosity"]:
            self.stdout.write(f"{run}: {run.results.count()} results.")


def _sources(file: Path) -> dict[str, str]:
    try:
        return parse(file.read_bytes(), file.name).kernels
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}.") from error
    except UploadError as error:
        raise CommandError(f"{file}: {error}") from error
