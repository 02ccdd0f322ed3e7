"""The admin: who handed in what, what runs and what waits; run again and cancel."""

# Django's ModelAdmin and ModelChoiceField take type parameters only in their stubs.
# mypy: disable-error-code="type-arg"

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.admin import UserAdmin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.utils.timezone import now

from leaderboard import services
from leaderboard.models import Chunk, Gpu, Host, Method, Result, Run, Submission, Task, User

admin.site.register(User, UserAdmin)


def _runs(count: int) -> str:
    return f"{count} run{pluralize(count)}"


class _ReadOnly:
    """What the evaluator has said is looked at, never edited."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Task)
class TaskAdmin(_ReadOnly, admin.ModelAdmin):
    list_display = ["name", "category", "version"]
    list_filter = ["category"]
    search_fields = ["name"]


@admin.register(Gpu)
class GpuAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "timed", "workers", "queued", "running", "last_heard"]
    readonly_fields = ["last_heard"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Gpu]:
        queryset: QuerySet[Gpu] = super().get_queryset(request)
        return queryset.annotate(
            workers=Count("hosts", filter=services.alive("hosts__"), distinct=True),
            queued=Count("runs", filter=Q(runs__status=Run.Status.QUEUED), distinct=True),
            running=Count("runs", filter=Q(runs__status=Run.Status.RUNNING), distinct=True),
        )

    @admin.display(description="workers online")
    def workers(self, gpu: Any) -> int:
        return int(gpu.workers)

    @admin.display(description="runs queued")
    def queued(self, gpu: Any) -> int:
        return int(gpu.queued)

    @admin.display(description="runs running")
    def running(self, gpu: Any) -> int:
        return int(gpu.running)


@admin.register(Host)
class HostAdmin(_ReadOnly, admin.ModelAdmin):
    list_display = ["name", "gpu", "online", "last_seen"]
    list_filter = ["gpu"]
    list_select_related = ["gpu"]

    @admin.display(boolean=True)
    def online(self, host: Host) -> bool:
        return host.last_seen > now() - services.LEASE


@admin.register(Method)
class MethodAdmin(admin.ModelAdmin):
    list_display = ["name", "owner", "kind", "base_model", "created"]
    list_filter = ["kind"]
    search_fields = ["name", "owner__username"]
    list_select_related = ["owner"]
    autocomplete_fields = ["owner"]
    prepopulated_fields = {"slug": ["name"]}


class RerunForm(forms.Form):
    gpu = forms.ModelChoiceField(Gpu.objects.all(), label="GPU", empty_label=None)


@admin.register(Submission)
class SubmissionAdmin(admin.ModelAdmin):
    list_display = ["method", "round", "uploader", "file_name", "kernel_count", "run_count", "created"]
    list_filter = ["method"]
    search_fields = ["method__name", "uploader__username", "file_name"]
    list_select_related = ["method", "uploader"]
    readonly_fields = ["method", "round", "uploader", "file_name", "file_sha256", "findings", "created"]
    actions = ["evaluate_again"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        queryset: QuerySet[Submission] = super().get_queryset(request)
        return queryset.annotate(
            kernel_count=Count("kernels", distinct=True),
            run_count=Count("runs", distinct=True),
        )

    @admin.display(description="kernels")
    def kernel_count(self, submission: Any) -> int:
        return int(submission.kernel_count)

    @admin.display(description="runs")
    def run_count(self, submission: Any) -> int:
        return int(submission.run_count)

    @admin.action(description="Evaluate again on a GPU …", permissions=["change"])
    def evaluate_again(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse | None:
        """A page that asks for the GPU, which comes back here."""
        form = RerunForm(request.POST if "gpu" in request.POST else None)
        if form.is_valid():
            try:
                runs = services.rerun(queryset, form.cleaned_data["gpu"])
            except services.Refused as refused:
                self.message_user(request, str(refused), messages.ERROR)
                return None
            queued = f"{_runs(len(runs))} on {form.cleaned_data['gpu']}."
            self.message_user(request, queued, messages.SUCCESS)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": "Evaluate again",
            "opts": self.model._meta,
            "form": form,
            "submissions": queryset,
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/evaluate_again.html", context)


@admin.register(Run)
class RunAdmin(_ReadOnly, admin.ModelAdmin):
    list_display = ["submission", "gpu", "status", "reason", "done", "workers", "created", "ended"]
    list_filter = ["status", "gpu", "suite_version"]
    search_fields = ["submission__method__name"]
    list_select_related = ["submission__method", "gpu"]
    exclude = ["seed"]  # secret until the run is over
    actions = ["cancel"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        queryset: QuerySet[Run] = super().get_queryset(request)
        return queryset.annotate(
            result_count=Count("results", distinct=True),
            kernel_count=Count("submission__kernels", distinct=True),
            worker_count=Count("gpu__hosts", filter=services.alive("gpu__hosts__"), distinct=True),
        )

    @admin.display(description="kernels done")
    def done(self, run: Any) -> str:
        return f"{run.result_count} of {run.kernel_count}"

    @admin.display(description="workers online")
    def workers(self, run: Any) -> str:
        return "" if run.is_over else str(run.worker_count or "none")

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        count = sum(services.cancel(run, f"Cancelled by {request.user}.") for run in queryset)
        self.message_user(request, f"{_runs(count)} cancelled.", messages.SUCCESS)


@admin.register(Chunk)
class ChunkAdmin(_ReadOnly, admin.ModelAdmin):
    list_display = ["run", "number", "state", "attempt", "host", "current_task", "overdue", "lease_until"]
    list_filter = ["state", "run__gpu"]
    list_select_related = ["run__submission__method", "run__gpu"]

    @admin.display(boolean=True)
    def overdue(self, chunk: Chunk) -> bool:
        lease: datetime | None = chunk.lease_until
        return chunk.state != Chunk.State.DONE and lease is not None and lease < now()


@admin.register(Result)
class ResultAdmin(_ReadOnly, admin.ModelAdmin):
    list_display = ["task", "run", "stage", "outcome", "speedup", "created"]
    list_filter = ["outcome", "stage", "run__gpu"]
    search_fields = ["task__name", "run__submission__method__name"]
    list_select_related = ["run__submission__method", "run__gpu", "task"]
