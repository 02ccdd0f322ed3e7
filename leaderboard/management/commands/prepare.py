from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Bring the database and the static files up to this code: migrate, sync_tasks, collectstatic."

    def handle(self, *args: Any, **options: Any) -> None:
        verbosity = options["verbosity"]
        call_command("migrate", interactive=False, verbosity=verbosity)
        call_command("sync_tasks", verbosity=verbosity)
        if not settings.PLAIN_STATIC:
            call_command("collectstatic", interactive=False, verbosity=0)
