from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tasks.pack import FILE_NAME, pack
from tasks.registry import all_tasks


class Command(BaseCommand):
    help = "Write the task pack: what a method is told of each task of the suite, as JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, default=Path(FILE_NAME), help=f"default: {FILE_NAME}")

    def handle(self, *args: Any, out: Path, verbosity: int, **options: Any) -> None:
        try:
            out.write_bytes(pack())
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror}.") from error
        if verbosity:
            self.stdout.write(f"{out}: {len(all_tasks())} tasks.")
