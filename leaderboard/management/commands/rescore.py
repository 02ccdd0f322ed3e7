from django.core.management.base import BaseCommand

from leaderboard import services
from leaderboard.models import Run


class Command(BaseCommand):
    help = "Rebuild what the ranking needs of every run that is over, from its stored reports."

    def handle(self, verbosity: int, **options: object) -> None:
        runs = Run.objects.filter(status__in=Run.FINAL)
        for run in runs.iterator():
            services.rescore(run)
        if verbosity:
            self.stdout.write(f"{runs.count()} runs rescored.")
