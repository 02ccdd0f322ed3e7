"""The tables: methods hand in submissions of kernels; runs evaluate them on GPUs and hold results."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluator.report import Outcome, Stage


class User(AbstractUser):
    """Somebody with an account."""


class Task(models.Model):
    """One of the 176 tasks, kept equal to the code by `manage.py sync_tasks`."""

    name = models.SlugField(max_length=100, primary_key=True)
    category = models.CharField(max_length=30, db_index=True)
    version = models.CharField(max_length=12, blank=True)  # empty: not in the suite yet
    difficulty = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["category", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("task", args=[self.name])

    @property
    def in_suite(self) -> bool:
        return bool(self.version)


class Gpu(models.Model):
    """A device type that results are shown for. `cpu` is the Triton interpreter: never timed or ranked."""

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    timed = models.BooleanField(default=True)
    last_heard = models.DateTimeField(null=True)  # when a worker came up here or last told of its work

    class Meta:
        ordering = ["-timed", "name"]

    def __str__(self) -> str:
        return self.name


class Host(models.Model):
    """A GPU worker that has said hello: alive while its heartbeat is fresh."""

    name = models.CharField(max_length=200, unique=True)
    gpu = models.ForeignKey(Gpu, models.CASCADE, related_name="hosts")
    last_seen = models.DateTimeField()
    environment = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name


class Method(models.Model):
    """What produced the kernels."""

    class Kind(models.TextChoices):
        SINGLE_PASS = "single_pass", _("single pass")
        ITERATIVE = "iterative", _("iterative")
        AGENTIC = "agentic", _("agentic")
        HUMAN = "human", _("human")

    owner = models.ForeignKey(User, models.SET_NULL, null=True, related_name="methods")
    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=80, unique=True)
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.SINGLE_PASS)
    base_model = models.CharField(max_length=80, blank=True)
    description = models.TextField(blank=True, max_length=4000)
    link = models.URLField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("method", args=[self.slug])


class Submission(models.Model):
    """One upload for a method: up to 176 kernels, one round."""

    method = models.ForeignKey(Method, models.CASCADE, related_name="submissions")
    round = models.PositiveSmallIntegerField(default=0)
    uploader = models.ForeignKey(User, models.SET_NULL, null=True, related_name="submissions")
    file_name = models.CharField(max_length=200)
    file_sha256 = models.CharField(max_length=64)
    findings = models.JSONField(
        default=dict
    )  # what the upload page showed: unknown names, bad lines, duplicates
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.UniqueConstraint(fields=["method", "round"], name="one_submission_per_round"),
        ]

    def __str__(self) -> str:
        return f"{self.method} round {self.round}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.pk])


class Kernel(models.Model):
    """One submission's source for one task."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="kernels")
    task = models.ForeignKey(Task, models.PROTECT, related_name="kernels")
    source = models.TextField()
    sha256 = models.CharField(max_length=64, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "task"], name="one_kernel_per_task")]

    def __str__(self) -> str:
        return f"{self.submission}: {self.task_id}"


def new_seed() -> str:
    return secrets.token_hex(16)


class Run(models.Model):
    """One submission evaluated on one GPU."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        FINISHED = "finished", _("finished")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    FINAL = (Status.FINISHED, Status.FAILED, Status.CANCELLED)

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="runs")
    gpu = models.ForeignKey(Gpu, models.PROTECT, related_name="runs")
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED, db_index=True)
    reason = models.CharField(max_length=300, blank=True)  # why it failed or was cancelled, for people
    seed = models.CharField(max_length=32, default=new_seed)  # secret until the run is over
    suite_version = models.CharField(max_length=20)
    environment = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]
        constraints = [
            # a double click or a repeated re-run does not queue the same thing twice
            models.UniqueConstraint(
                fields=["submission", "gpu"],
                condition=Q(status__in=["queued", "running"]),
                name="one_active_run",
            ),
        ]
        indexes = [models.Index(fields=["gpu", "status", "-created"])]

    def __str__(self) -> str:
        return f"{self.submission} on {self.gpu}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def is_over(self) -> bool:
        return self.status in self.FINAL


class Chunk(models.Model):
    """A part of a run that one worker evaluates at a time. Its lease is the deadline of its state."""

    class State(models.TextChoices):
        WAITING = (
            "waiting",
            _("waiting for the first kernel"),
        )  # not sent before the run's first kernel is back
        SENT = "sent", _("sent")
        STARTED = "started", _("started")
        DONE = "done", _("done")

    run = models.ForeignKey(Run, models.CASCADE, related_name="chunks")
    number = models.PositiveSmallIntegerField()
    tasks = models.JSONField()  # names of its kernels' tasks
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=1)
    sent = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=300, blank=True)  # why the attempt ended without all its reports
    host = models.CharField(max_length=200, blank=True)
    current_task = models.CharField(
        max_length=100, blank=True
    )  # what the worker is at, for the progress page

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_chunk_per_number")]
        indexes = [models.Index(fields=["lease_until"], condition=~Q(state="done"), name="open_chunks")]

    def __str__(self) -> str:
        return f"{self.run}, chunk {self.number}"


class Result(models.Model):
    """The report of one kernel in one run. At most one exists for a run and a task."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="results")
    kernel = models.ForeignKey(Kernel, models.PROTECT, related_name="results")
    task = models.ForeignKey(Task, models.PROTECT, related_name="results")
    task_version = models.CharField(max_length=12, blank=True)
    stage = models.CharField(max_length=10, choices=[(stage.value, stage.value) for stage in Stage])
    outcome = models.CharField(max_length=30, choices=[(o.value, o.value) for o in Outcome], db_index=True)
    compiled = models.BooleanField()
    correct = models.BooleanField()
    speedup = models.FloatField(null=True)
    report = models.JSONField()  # evaluator.report.Report, whole
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "task"], name="one_result_per_task")]
        indexes = [models.Index(fields=["task", "-speedup"])]

    def __str__(self) -> str:
        return f"{self.run}: {self.task_id} {self.outcome}"

    def get_absolute_url(self) -> str:
        return reverse("result", args=[self.run_id, self.task_id])


class Summary(models.Model):
    """What the ranking needs of a run, stored when it ends: one row for all categories, one for each."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="summaries")
    category = models.CharField(max_length=30, blank=True)  # empty: all categories
    tasks = models.PositiveSmallIntegerField()  # of the benchmark (176 for all)
    handed_in = models.PositiveSmallIntegerField()
    judged = models.PositiveSmallIntegerField()  # handed in and not stopped by our fault or limit
    compiled = models.PositiveSmallIntegerField()
    correct = models.PositiveSmallIntegerField()
    timed = models.PositiveSmallIntegerField()
    geometric_mean = models.FloatField(null=True)  # speedup over eager
    arithmetic_mean = models.FloatField(null=True)
    fast_1 = models.PositiveSmallIntegerField()  # right and more than once as fast as eager
    fast_2 = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "category"], name="one_summary_per_category")]
        indexes = [models.Index(fields=["category", "-correct", "-geometric_mean"])]

    def __str__(self) -> str:
        return f"{self.run} {self.category or 'all'}"
