"""What people fill in. Whatever is wrong with an upload ends here as a sentence."""

# Django's ModelAdmin and ModelChoiceField take type parameters only in their stubs.
# mypy: disable-error-code="type-arg"

from __future__ import annotations

import unicodedata
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import Max

from evaluator.upload import Limits, Problem, Upload, UploadError, parse
from leaderboard import services
from leaderboard.models import Gpu, Method, Submission, User

MAX_ROUND = 999
_PROBLEMS_SHOWN = 5


class _MethodField(forms.ModelChoiceField):
    def label_from_instance(self, method: Any) -> str:
        return f"{method} (next free round: {0 if method.last is None else method.last + 1})"


class _VisibleField(forms.CharField):
    """A name as others see it: nothing in it is invisible, reverses what follows, or steers a terminal."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        hidden = next((sign for sign in text if unicodedata.category(sign).startswith("C")), None)
        if hidden:
            raise forms.ValidationError(
                f"There is a character in it that cannot be seen (U+{ord(hidden):04X}). Leave it out."
            )
        return text


class SubmitForm(forms.Form):
    """A file of kernels for a method of the user, old or new."""

    method = _MethodField(
        Method.objects.none(),
        required=False,
        empty_label="A new method",
        help_text="One of yours, or a new one.",
    )
    name = _VisibleField(
        label="Name of the new method",
        max_length=80,
        required=False,
        help_text="As it stands on the leaderboard.",
    )
    kind = forms.ChoiceField(choices=Method.Kind, initial=Method.Kind.SINGLE_PASS, required=False)
    base_model = _VisibleField(
        label="Base model",
        max_length=80,
        required=False,
        help_text="Which model wrote the kernels, if one did.",
    )
    round = forms.IntegerField(
        min_value=0,
        max_value=MAX_ROUND,
        required=False,
        help_text="0 for a single pass; 1, 2, … for later rounds of a method. Empty: the next free one.",
    )
    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        max_length=200,
        help_text="JSONL, a .zip of .py or JSONL files, or one .py; at most {:g} MB.",
        widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.json,.zip,.py"}),
    )
    code = forms.CharField(
        label="Or paste code",
        required=False,
        strip=False,
        help_text="One kernel in Python, or lines of JSONL.",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "code"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self.user = user
        mine = Method.objects.filter(owner=user).annotate(last=Max("submissions__round"))
        self.fields["method"].queryset = mine  # type: ignore[attr-defined]
        self.fields["file"].help_text = self.fields["file"].help_text.format(
            settings.KBX_MAX_UPLOAD_BYTES / 1e6
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name = " ".join(cleaned.get("name", "").split())
        if "method" in cleaned and "name" in cleaned and bool(cleaned["method"]) == bool(name):
            self.add_error(
                "name", "Choose one of your methods or name a new one" + (", not both." if name else ".")
            )
        if "file" in cleaned and "code" in cleaned:
            self._read_upload(cleaned)
        return cleaned

    def save(self) -> Submission:
        """The submission, new or the one that it already is. Raises services.Refused."""
        cleaned = self.cleaned_data
        method = cleaned["method"] or services.method_named(
            self.user,
            cleaned["name"],
            kind=cleaned["kind"] or Method.Kind.SINGLE_PASS,
            base_model=cleaned["base_model"],
        )
        return services.submit(
            self.user, method, cleaned["round"], self.upload, self.file_name, self.data_read
        )

    def _read_upload(self, cleaned: dict[str, Any]) -> None:
        file, code = cleaned["file"], cleaned["code"]
        if (file is None) == (not code.strip()):
            self.add_error("file", "Choose a file or paste code" + (", not both." if code.strip() else "."))
            return
        field = "file" if file else "code"
        if file:
            self.file_name, self.data_read = file.name, file.read()
        else:
            self.file_name = "pasted.jsonl" if code.lstrip().startswith("{") else "pasted.py"
            self.data_read = code.encode()
        limits = Limits(file_bytes=settings.KBX_MAX_UPLOAD_BYTES, kernel_bytes=settings.KBX_MAX_KERNEL_BYTES)
        try:
            self.upload = parse(self.data_read, self.file_name, limits)
        except UploadError as error:
            self.add_error(field, str(error))
            return
        if not self.upload.kernels:
            self.add_error(field, _nothing_usable(self.upload))


def _nothing_usable(upload: Upload) -> list[str]:
    more = len(upload.problems) - _PROBLEMS_SHOWN
    return [
        "No kernel in it can be used.",
        *(_sentence(problem) for problem in upload.problems[:_PROBLEMS_SHOWN]),
        *([f"And {more} more like these."] if more > 0 else []),
    ]


def _sentence(problem: Problem) -> str:
    return f"{problem.place}: {problem.message}"


class EvaluateForm(forms.Form):
    """The GPUs that a submission shall be evaluated on."""

    gpus = forms.ModelMultipleChoiceField(
        Gpu.objects.all(), error_messages={"required": "Choose at least one GPU."}
    )
