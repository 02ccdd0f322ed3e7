"""A report in the making, and how a kernel drops out of the protocol."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field

from evaluator import environment
from evaluator.report import Contract, Failure, Outcome, Report, Stage, Timing, Verdict
from evaluator.sandbox import Limits
from tasks.registry import all_tasks, task_version


@dataclass(frozen=True)
class Settings:
    """How kernels are evaluated. The defaults are the protocol; tests and tools may ask for less."""

    isolated: bool = True
    limits: Limits = field(default_factory=Limits)
    timing: bool = True  # on CUDA; never on `cpu`
    timing_ms: float = 60.0  # of repetitions for each timing case


PROTOCOL = Settings()


class Failed(Exception):
    """The kernel did not pass."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass
class Draft:
    """A report in the making."""

    name: str
    source: str
    device: str
    settings: Settings
    stage: Stage = Stage.STATIC
    failure: Failure | None = None
    passed: int = 0
    cases: int = 0
    timings: tuple[Timing, ...] = ()
    kernels: dict[str, None] = field(default_factory=dict)
    variant: str = ""
    paper: Verdict | None = None
    contract: Contract | None = None
    log: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    _since: float = 0.0

    @property
    def timed(self) -> bool:
        return self.device != "cpu" and self.settings.timing

    def begin(self, stage: Stage) -> None:
        self._clock()
        self.stage = stage

    def cancel(self) -> None:
        self.failure = Failure(outcome=Outcome.CANCELLED, message="The run was cancelled.")

    def report(self) -> Report:
        self._clock()
        return Report(
            task=self.name,
            task_version=task_version(self.name) if self.name in all_tasks() else "",
            device=environment.slug(self.device),
            stage=self.stage,
            failure=self.failure,
            cases_passed=self.passed,
            cases_total=self.cases,
            timings=self.timings if self.failure is None else (),
            triton_kernels=tuple(self.kernels),
            variant=self.variant,
            paper=self.paper,
            contract=self.contract,
            log=self.log,
            seconds=self.seconds,
            source_sha256=hashlib.sha256(self.source.encode("utf-8", "replace")).hexdigest(),
            sandboxed=self.settings.isolated,
        )

    def _clock(self) -> None:
        now = time.monotonic()
        if self.stage is not Stage.STATIC:
            stage = self.stage.value
            self.seconds[stage] = round(self.seconds.get(stage, 0.0) + now - self._since, 3)
        self._since = now
