"""From a file to a run: the form, what was found in the file, Evaluate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from leaderboard import services
from leaderboard.forms import EvaluateForm, SubmitForm
from leaderboard.models import Gpu, Run, Submission, Task, User

_DRAINED_BYTES = 100_000_000


@csrf_exempt  # the size is looked at before Django reads the body for the token; _submit checks the token
@login_required
def submit(request: HttpRequest) -> HttpResponse:
    if (size := _body_bytes(request)) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        _drain(request)
        refusal = (
            f"The file has {size / 1e6:.0f} MB; at most {settings.KBX_MAX_UPLOAD_BYTES / 1e6:g} MB are "
            "accepted. Compress it as a .zip or leave out what is not a kernel."
        )
        context = {"form": SubmitForm(user=_user(request)), "refusal": refusal}
        return render(request, "submit.html", context, status=413)
    return _submit(request)


@csrf_protect
def _submit(request: HttpRequest) -> HttpResponse:
    # Bound also to an empty POST: that is what Django makes of a body that it cannot read.
    data = (request.POST, request.FILES) if request.method == "POST" else ()
    form = SubmitForm(*data, user=_user(request))
    if form.is_valid():
        try:
            return redirect(form.save())
        except services.Refused as refused:
            form.add_error(None, str(refused))
    return render(request, "submit.html", {"form": form}, status=422 if form.errors else 200)


def submission(request: HttpRequest, pk: int) -> HttpResponse:
    found = _visible(request, pk)
    return render(request, "submission.html", _context(request, found))


@login_required
def evaluate(request: HttpRequest, pk: int) -> HttpResponse:
    found = _owned(request, pk)
    if request.method != "POST":  # from signing in again, or a reload of a refused choice
        return redirect(found)
    form = EvaluateForm(request.POST)
    if not form.is_valid():
        return render(request, "submission.html", {**_context(request, found), "form": form}, status=422)
    try:
        runs = [services.enqueue(found, gpu) for gpu in form.cleaned_data["gpus"]]
    except services.Refused as refused:
        messages.error(request, str(refused))
        return redirect(found)
    return redirect(runs[0] if len(runs) == 1 else found)


@login_required
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    found = _owned(request, pk)
    if request.method != "POST":
        return redirect(found)
    try:
        services.discard(found)
    except services.Refused as refused:
        messages.error(request, str(refused))
        return redirect(found)
    messages.success(request, f"{found} was discarded; its round is free again.")
    return redirect("submit")


def is_owner(user: object, submission: Submission) -> bool:
    """Whether the user may evaluate the submission and cancel its runs."""
    return isinstance(user, User) and (
        user.is_staff or user.pk in (submission.uploader_id, submission.method.owner_id)
    )


def _visible(request: HttpRequest, pk: int) -> Submission:
    found = get_object_or_404(Submission.objects.select_related("method"), pk=pk)
    if not is_owner(request.user, found) and not found.runs.exists():
        raise Http404  # a draft is nobody else's business, not even that it exists
    return found


def _owned(request: HttpRequest, pk: int) -> Submission:
    found = get_object_or_404(Submission.objects.select_related("method"), pk=pk)
    if not is_owner(request.user, found):
        raise Http404
    return found


@dataclass(frozen=True)
class Category:
    """The tasks of a category that the file has a kernel for, and those that it has none for."""

    name: str
    found: list[Task]
    missing: list[Task]

    @property
    def size(self) -> int:
        return len(self.found) + len(self.missing)


@dataclass(frozen=True)
class Choice:
    """A GPU, the live workers it has, and the latest run of the submission there."""

    gpu: Gpu
    workers: int
    run: Run | None

    @property
    def chosen(self) -> bool:
        """Whether it is ticked to begin with: where somebody is there to do it."""
        return self.workers > 0 and self.is_open

    @property
    def is_open(self) -> bool:
        """Whether Evaluate would queue something."""
        return self.run is None or self.run.status in (Run.Status.FAILED, Run.Status.CANCELLED)


def _context(request: HttpRequest, submission: Submission) -> dict[str, object]:
    tasks = list(Task.objects.all())
    handed_in = set(submission.kernels.values_list("task", flat=True))
    not_in_suite = {task.name for task in tasks if task.name in handed_in and not task.in_suite}
    failures = submission.findings.get("static", {})
    choices = _choices(submission)
    return {
        "submission": submission,
        "problems": submission.findings.get("problems", []),
        "task_count": len(tasks),
        "handed_in": len(handed_in),
        "not_in_suite": not_in_suite,
        "failing": [{"task": task, **failures[task]} for task in sorted(failures.keys() - not_in_suite)],
        "categories": _categories(tasks, handed_in),
        "choices": choices,
        "is_draft": not any(choice.run for choice in choices),
        "may_evaluate": is_owner(request.user, submission),
    }


def _categories(tasks: list[Task], handed_in: set[str]) -> list[Category]:
    """`tasks` come ordered by category."""
    categories = []
    for name, group in groupby(tasks, lambda task: task.category):
        members = list(group)
        found = [task for task in members if task.name in handed_in]
        categories.append(Category(name, found, [task for task in members if task not in found]))
    return categories


def _choices(submission: Submission) -> list[Choice]:
    latest = {run.gpu_id: run for run in submission.runs.order_by("created")}
    gpus = Gpu.objects.annotate(workers=Count("hosts", filter=services.alive("hosts__")))
    online_first = gpus.order_by("-workers", "-timed", "name")
    return [Choice(gpu, gpu.workers, latest.get(gpu.pk)) for gpu in online_first]


def _body_bytes(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def _drain(request: HttpRequest) -> None:
    """Read what is being sent, up to a bound: a browser looks for the answer only after its last byte."""
    left = _DRAINED_BYTES
    while left > 0 and (part := request.read(1 << 16)):
        left -= len(part)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # both callers are behind login_required
    return request.user
