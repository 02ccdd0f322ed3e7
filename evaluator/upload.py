"""Uploads of strangers into kernels: JSONL, a zip of .py and .jsonl files, or one .py. Standard library only.

One bad line or entry costs nothing but itself: it becomes a `Problem` that names its place.
"""

from __future__ import annotations

import ast
import difflib
import io
import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from evaluator.report import visible
from tasks import registry
from tasks.catalogue import CATALOGUE

ProblemKind = Literal["unknown", "duplicate", "unreadable", "too_large", "empty"]


@dataclass(frozen=True)
class Limits:
    """Most bytes of the file, of everything in it once unpacked, and of one kernel; most lines and entries."""

    file_bytes: int = 10_000_000
    unpacked_bytes: int = 50_000_000
    kernel_bytes: int = 256_000
    records: int = 2_000


class UploadError(Exception):
    """The whole file is unusable; the message is a sentence for the person who uploaded it."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with one record of the file; the record is left out."""

    kind: ProblemKind
    place: str  # "line 3", "Math/abs.py", "round.jsonl line 3"
    name: str  # the task's name as written, where there is one
    message: str


@dataclass
class Upload:
    """What a file holds: the kernels by task in the file's order, and what could not be used."""

    kernels: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse(data: bytes, file_name: str, limits: Limits = Limits()) -> Upload:
    """The kernels in an uploaded file. Raises UploadError, and nothing else, where the file as a whole is unusable."""
    if not data.removeprefix(_BOM).strip():
        raise UploadError("The file is empty.")
    if len(data) > limits.file_bytes:
        raise UploadError(
            f"The file has {len(data) / 1e6:.1f} MB; at most {limits.file_bytes / 1e6:g} MB are accepted. "
            "Compress it as a .zip or leave out what is not a kernel."
        )
    reader = _Reader(limits)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        reader.read_zip(data)
    elif file_name.lower().endswith(".py"):
        reader.read_source(data, file_name)
    elif data.removeprefix(_BOM).lstrip()[:1] == b"{":
        reader.read_jsonl(data, "")
    else:
        raise UploadError(
            "This is neither JSONL (a JSON object a line), nor a .zip, nor a .py file. "
            'Each line of a JSONL file looks like {"file": "Math/abs.py", "predict": "import triton …"}.'
        )
    upload = reader.upload
    if not upload.kernels and not upload.problems:
        raise UploadError("The file holds no kernel.")
    return upload


def strip_fences(text: str, most: int = Limits.kernel_bytes) -> str:
    """The code of an answer: what stands in its longest Markdown code block, or all of it if there is none.

    Of more than `most` characters the whole cannot be a kernel, and Python takes a minute for 10 MB: not parsed.
    """
    if "```" not in text or (len(text) <= most and _parses(text)):
        return text
    blocks = re.findall(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", text, re.DOTALL | re.MULTILINE)
    return max(blocks, key=len, default=text)


_BOM = b"\xef\xbb\xbf"

_Read = Callable[[], tuple[str, str]]  # task and source


class _Unusable(Exception):
    def __init__(self, kind: ProblemKind, message: str, name: str = "") -> None:
        self.kind, self.message, self.name = kind, message, name


class _Reader:
    """Collects kernels and problems while it walks through a file."""

    def __init__(self, limits: Limits) -> None:
        self.upload = Upload()
        self._limits = limits
        self._records = 0
        self._places: dict[str, str] = {}

    def read_zip(self, data: bytes) -> None:
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
            entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, OverflowError) as error:
            raise UploadError("The file looks like a zip archive but cannot be opened as one.") from error
        left = self._limits.unpacked_bytes
        for entry in entries:
            if entry.filename.endswith("/") or "__MACOSX/" in entry.filename:
                continue
            place = entry.filename[:200]
            try:
                content = self._unpack(archive, entry, left)
            except _Unusable as unusable:
                self._problem(place, unusable)
                continue
            left -= len(content)
            if place.lower().endswith(".py"):
                self.read_source(content, place)
            else:
                self.read_jsonl(content, f"{place} ")

    def _unpack(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> bytes:
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or re.match(r"^[A-Za-z]:", name):
            raise _Unusable(
                "unreadable", "The entry's name leaves the archive. Pack the files by plain names."
            )
        if name.lower().endswith(".zip"):
            raise _Unusable("unreadable", "A zip inside a zip is not opened. Pack the kernels themselves.")
        if not name.lower().endswith((".py", ".jsonl")):
            raise _Unusable("unreadable", "Only .py and .jsonl files are read; this one was left out.")
        if entry.flag_bits & 0x1:
            raise _Unusable("unreadable", "The entry is encrypted. Pack it without a password.")
        # What the archive says of sizes is the sender's word: read no more than fits and then stop.
        bound = min(left, self._limits.file_bytes)
        try:
            with archive.open(entry) as stream:
                content = stream.read(bound + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
        ) as error:
            raise _Unusable("unreadable", "The entry is damaged and cannot be unpacked.") from error
        if len(content) > bound:
            raise UploadError(
                f"Unpacked, the archive is larger than {self._limits.unpacked_bytes / 1e6:g} MB or one of its files "
                f"larger than {self._limits.file_bytes / 1e6:g} MB ({_shown(entry.filename[:100])}). "
                "Nothing was taken from it."
            )
        return content

    def read_jsonl(self, data: bytes, prefix: str) -> None:
        for number, line in enumerate(data.removeprefix(_BOM).split(b"\n"), 1):
            if line.strip():
                self._take(f"{prefix}line {number}", partial(self._from_record, line))

    def read_source(self, data: bytes, file_name: str) -> None:
        self._take(file_name, partial(self._from_source, data, file_name))

    def _take(self, place: str, read: _Read) -> None:
        self._records += 1
        if self._records > self._limits.records:
            raise UploadError(f"The file holds more than {self._limits.records} records. Split it.")
        try:
            task, source = read()
            source = self._clean(task, source)
            if task in self.upload.kernels:
                same = "the same kernel" if self.upload.kernels[task] == source else "another kernel"
                raise _Unusable(
                    "duplicate",
                    f"{task} was already found at {self._places[task]} ({same}); the first one is used.",
                    task,
                )
        except _Unusable as unusable:
            self._problem(place, unusable)
            return
        self._places[task] = place
        self.upload.kernels[task] = source

    def _problem(self, place: str, unusable: _Unusable) -> None:
        problem = Problem(unusable.kind, _shown(place), _shown(unusable.name[:200]), _shown(unusable.message))
        self.upload.problems += (problem,)

    def _from_record(self, line: bytes) -> tuple[str, str]:
        try:
            record = json.loads(line.decode())
        except UnicodeDecodeError as error:
            raise _Unusable("unreadable", f"The line is not valid UTF-8 (byte {error.start + 1}).") from error
        except (ValueError, RecursionError) as error:
            raise _Unusable("unreadable", f"The line is not valid JSON: {_reason(error)}.") from error
        if not isinstance(record, dict):
            raise _Unusable("unreadable", "The line is JSON, but not an object with “file” and “predict”.")
        name = _text(record, "file") or _text(record, "instruction")
        if "predict" not in record:
            raise _Unusable(
                "unreadable", "The line has no “predict”, which holds the kernel's source.", _short(name)
            )
        if not isinstance(record["predict"], str):
            raise _Unusable("unreadable", "“predict” is not a string.", _short(name))
        source = strip_fences(_lines(record["predict"]), self._limits.kernel_bytes)
        if isinstance(record.get("file"), str):
            return self._known(record["file"]), source
        if isinstance(record.get("instruction"), str):
            return self._from_instruction(record["instruction"], source), source
        raise _Unusable("unreadable", "The line names no task: it has neither “file” nor “instruction”.")

    def _from_source(self, data: bytes, file_name: str) -> tuple[str, str]:
        try:
            source = strip_fences(_lines(data.removeprefix(_BOM).decode()), self._limits.kernel_bytes)
        except UnicodeDecodeError as error:
            raise _Unusable("unreadable", f"The file is not valid UTF-8 (byte {error.start + 1}).") from error
        if registry.find(file_name):
            return self._known(file_name), source
        if found := _from_definitions(source):
            return found, source
        return self._known(file_name), source

    def _from_instruction(self, instruction: str, source: str) -> str:
        written = re.search(
            r"Wrapper Entry Information:\s*(?:def\s+)?([A-Za-z_][\w.]*)\s*\(\s*(?!Tensor\))", instruction
        )
        name = written.group(1).rsplit(".", 1)[-1] if written else ""
        return registry.find(name) or (not name and _from_definitions(source)) or self._known(name)

    def _known(self, name: str) -> str:
        task = registry.find(name)
        if task is None:
            raise _Unusable("unknown", _unknown(name), name)
        return task

    def _clean(self, task: str, source: str) -> str:
        if not source.strip():
            raise _Unusable("empty", "The kernel's source is empty.", task)
        if _storable(source) != source:
            raise _Unusable(
                "unreadable", "The source holds null bytes or broken characters; it is not text.", task
            )
        if (size := len(source.encode())) > self._limits.kernel_bytes:
            raise _Unusable(
                "too_large",
                f"The kernel has {size / 1000:.0f} kB; at most {self._limits.kernel_bytes / 1000:g} kB are accepted.",
                task,
            )
        return source


def _unknown(name: str) -> str:
    stem = name.rsplit("/", 1)[-1].removesuffix(".py")
    if not stem:
        return "No task could be found for this record."
    known = [task for tasks in CATALOGUE.values() for task in tasks]
    near = difflib.get_close_matches(stem[:100], known, n=1)
    hint = f" The nearest name is {near[0]}." if near else ""
    return f"The benchmark has no task {stem[:100]!r}.{hint}"


def _from_definitions(source: str) -> str | None:
    """The one task among the functions that the source defines at its top level, where there is exactly one."""
    found = {registry.find(name) for name in re.findall(r"^def\s+([A-Za-z]\w*)\s*\(", source, re.MULTILINE)}
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a stranger's "\d" is not worth a line in our log
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _lines(text: str) -> str:
    """The text with Unix line ends and no byte order mark."""
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n").replace("\r", "\n")


def _storable(text: str) -> str:
    """The text without what UTF-8 or the database cannot hold (lone surrogates, null)."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _shown(text: str) -> str:
    return visible(_storable(text))


def _text(record: dict[str, object], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _short(name: str) -> str:
    return name if len(name) <= 100 else ""


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number in it is too long"
