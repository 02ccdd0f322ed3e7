from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Bring the database and the static files up to this code: migrate, sync_tasks, collectstatic."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="fill an empty site with real runs")

    def handle(self, *args: Any, **options: Any) -> None:
        verbosity = options["verbosity"]
        call_command("migrate", interactive=False, verbosity=verbosity)
        call_command("sync_tasks", verbosity=verbosity)
        if options["demo"]:
            call_command("load_demo", verbosity=verbosity)
        if not settings.PLAIN_STATIC:
            call_command("collectstatic", interactive=False, verbosity=0)
