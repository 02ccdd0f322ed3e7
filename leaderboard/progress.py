"""What the page of a run shows while it goes on and afterwards, read in a constant number of queries."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from django.utils.timezone import now

from evaluator.report import OUTCOMES, Outcome
from leaderboard import services
from leaderboard.models import Chunk, Run
from leaderboard.queries import OUTDATED


@dataclass(frozen=True)
class Tile:
    """One kernel of the run: its outcome, or where it is on the way there."""

    task: str
    category: str
    state: str  # an outcome, "waiting" or "running"
    tone: str  # "good", "bad", "neutral" for what says nothing of the kernel; else the state
    label: str
    outdated: bool = False  # the task has changed since


@dataclass(frozen=True)
class Progress:
    run: Run
    tiles: list[Tile]
    hosts: list[str]  # that evaluate it now
    ahead: int  # runs that were queued earlier on the same GPU
    workers: int  # alive on its GPU

    @property
    def done(self) -> int:
        """Kernels that were judged: neither ahead nor cancelled before their turn."""
        return sum(tile.state not in ("waiting", "running", Outcome.CANCELLED) for tile in self.tiles)

    @property
    def correct(self) -> int:
        return sum(tile.state == Outcome.CORRECT for tile in self.tiles)

    @property
    def outdated(self) -> int:
        return sum(tile.outdated for tile in self.tiles)

    @property
    def categories(self) -> list[tuple[str, list[Tile]]]:
        return [(name, list(tiles)) for name, tiles in groupby(self.tiles, lambda tile: tile.category)]

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Tone, label and number of kernels of each outcome, most first."""
        counted = Counter((tile.tone, tile.label) for tile in self.tiles)
        return [(tone, label, count) for (tone, label), count in counted.most_common()]

    @property
    def elapsed(self) -> timedelta | None:
        """Since the first worker began, in whole seconds."""
        if self.run.started is None:
            return None
        return timedelta(seconds=int(((self.run.ended or now()) - self.run.started).total_seconds()))

    @property
    def version(self) -> str:
        """Changes when the page does; the time that has elapsed counts by tens of seconds."""
        tens = self.elapsed.seconds // 10 if self.elapsed else 0
        shown = (self.run.status, self.tiles, self.hosts, self.ahead, bool(self.workers), tens)
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:12]


def progress_of(run: Run) -> Progress:
    """`run` with its submission, method and GPU selected."""
    results = {task: rest for task, *rest in run.results.values_list("task", "outcome", OUTDATED)}
    started = [] if run.is_over else list(run.chunks.filter(state=Chunk.State.STARTED))
    current = {chunk.current_task for chunk in started}
    kernels = run.submission.kernels.order_by("task__category", "task").values_list("task", "task__category")
    return Progress(
        run=run,
        tiles=[
            _tile(task, category, *results.get(task, (None, False)), running=task in current)
            for task, category in kernels
        ],
        hosts=sorted({chunk.host for chunk in started if chunk.host}),
        ahead=0 if run.status != Run.Status.QUEUED else _ahead(run),
        workers=0 if run.is_over else services.live_hosts(run.gpu).count(),
    )


def _tile(task: str, category: str, outcome: str | None, outdated: bool, *, running: bool) -> Tile:
    if outcome is None:
        state = "running" if running else "waiting"
        return Tile(task, category, state, state, state)
    text = OUTCOMES[Outcome(outcome)]
    tone = "good" if outcome == Outcome.CORRECT else "neutral" if text.ours else "bad"
    return Tile(task, category, outcome, tone, text.label, outdated)


def _ahead(run: Run) -> int:
    active = (Run.Status.QUEUED, Run.Status.RUNNING)
    return Run.objects.filter(gpu=run.gpu_id, status__in=active, created__lt=run.created).count()
