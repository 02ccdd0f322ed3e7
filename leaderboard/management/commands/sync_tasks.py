from django.core.management.base import BaseCommand
from django.db import transaction

from evaluator.devices import DEVICES
from leaderboard.models import Gpu, Result, Task
from leaderboard.queries import OUTDATED
from tasks.catalogue import CATALOGUE
from tasks.registry import all_tasks, task_version


class Command(BaseCommand):
    help = "Keep the tables of tasks and GPUs equal to the code. Changes nothing where they already are."

    @transaction.atomic
    def handle(self, verbosity: int, **options: object) -> None:
        tasks = [
            Task(name=name, category=category, version=task_version(name) if name in all_tasks() else "")
            for category, names in CATALOGUE.items()
            for name in names
        ]
        Task.objects.bulk_create(
            tasks, update_conflicts=True, unique_fields=["name"], update_fields=["category", "version"]
        )
        Gpu.objects.bulk_create(
            _gpus(), update_conflicts=True, unique_fields=["slug"], update_fields=["name", "timed"]
        )
        if verbosity:
            built = sum(task.in_suite for task in tasks)
            self.stdout.write(
                f"{len(tasks)} tasks, {built} of them in the suite; {Gpu.objects.count()} GPUs; "
                f"{Result.objects.filter(OUTDATED).count()} results are of older task definitions."
            )


def _gpus() -> list[Gpu]:
    return [
        Gpu(slug="cpu", name="CPU (Triton interpreter)", timed=False),
        *(Gpu(slug=device.slug, name=device.name) for device in DEVICES),
    ]
