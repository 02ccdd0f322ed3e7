"""`python -m evaluator run FILE --device cpu|cuda:0 --out results.json`: the evaluator from a shell.

Needs torch, triton, numpy and bubblewrap, nothing else. Exit codes:

0  every kernel has a report (whatever it says)
1  the evaluation was interrupted; the results file holds the reports so far
2  wrong arguments, or the file cannot be used
3  no kernel can be run here: no such device, or no sandbox
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluator import environment, sandbox
from evaluator.draft import Settings
from evaluator.pipeline import evaluate
from evaluator.report import OUTCOMES, Environment, Outcome, Report
from evaluator.sandbox import SandboxError
from evaluator.upload import Upload, UploadError, parse
from tasks.catalogue import CATALOGUE

SCHEMA = 1
"""Of the results file. Raised when its form changes."""

INTERRUPTED, UNUSABLE, CANNOT_RUN = 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        upload = _read(options.file, options.tasks)
    except UploadError as error:
        return _complain(str(error), UNUSABLE)
    if reason := environment.problem(options.device):
        return _complain(reason, CANNOT_RUN)
    try:
        where = environment.collect(
            options.device, sandbox.describe(options.device, isolated=not options.no_sandbox)
        )
    except SandboxError as error:
        return _complain(str(error), CANNOT_RUN)
    _say_found(upload)
    settings = Settings(isolated=not options.no_sandbox, timing=not options.no_timing)
    results = _Results(options.out, where, options.seed or secrets.token_hex(16), upload)
    try:
        results.write()
    except OSError as error:
        return _complain(f"{options.out} cannot be written: {error.strerror}.", UNUSABLE)
    try:
        for report in _with_progress(
            evaluate(upload.kernels, options.device, seed=results.seed, settings=settings), upload
        ):
            results.add(report)
    except KeyboardInterrupt:
        return _complain(f"Interrupted. {options.out} holds {len(results.reports)} reports.", INTERRUPTED)
    _say_summary(results.reports)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluator", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True, metavar="run")
    run = commands.add_parser("run", help="evaluate the kernels of a file and write their reports")
    run.add_argument("file", type=Path, help="a .jsonl, .zip or .py file, as the site takes it")
    run.add_argument("--device", required=True, help="cpu (the Triton interpreter, never timed) or cuda:0")
    run.add_argument("--out", type=Path, required=True, help="the results file (JSON), written as it goes")
    run.add_argument("--tasks", default="", help="only these tasks, with commas between")
    run.add_argument("--seed", default="", help="what all inputs follow from (default: a new secret one)")
    run.add_argument("--no-timing", action="store_true", help="stop after correctness")
    run.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run kernels without bubblewrap, with all your rights; the results say so",
    )
    return parser


def _read(file: Path, tasks: str) -> Upload:
    try:
        upload = parse(file.read_bytes(), file.name)
    except OSError as error:
        raise UploadError(f"{file}: {error.strerror}.") from error
    wanted = [name.strip() for name in tasks.split(",") if name.strip()]
    if missing := [name for name in wanted if name not in upload.kernels]:
        raise UploadError(f"The file holds no kernel for {', '.join(missing)}.")
    kernels = {name: upload.kernels[name] for name in wanted} if wanted else upload.kernels
    return Upload(kernels, upload.problems)


class _Results:
    """The results file: rewritten after every report, whole or not at all."""

    def __init__(self, path: Path, where: Environment, seed: str, upload: Upload) -> None:
        self.seed = seed
        self.reports: list[Report] = []
        self._path, self._where, self._upload = path, where, upload

    def add(self, report: Report) -> None:
        self.reports.append(report)
        self.write()

    def write(self) -> None:
        results: dict[str, Any] = {
            "schema": SCHEMA,
            "environment": self._where.to_json(),
            "seed": self.seed,
            "reports": [report.to_json() for report in self.reports],
            "problems": [asdict(problem) for problem in self._upload.problems],
        }
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            beside.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)


def _with_progress(reports: Iterator[Report], upload: Upload) -> Iterator[Report]:
    """The reports as they come, with a line on stderr for each and a bar while one is awaited."""
    total, started = len(upload.kernels), time.monotonic()
    names = [*upload.kernels, ""]
    on_screen = sys.stderr.isatty()
    for done in range(total + 1):
        if on_screen:
            filled = 30 * done // max(total, 1)
            bar = f"[{'#' * filled}{'.' * (30 - filled)}] {done}/{total} {names[done]}"
            print(f"\r\x1b[K{bar}", end="" if done < total else "\n", file=sys.stderr, flush=True)
        if (report := next(reports, None)) is None:
            return
        line = f"{done + 1}/{total} {time.monotonic() - started:.0f} s {report.task}: {_in_short(report)}"
        print(f"\r\x1b[K{line}" if on_screen else line, file=sys.stderr, flush=True)
        yield report


def _in_short(report: Report) -> str:
    label = OUTCOMES[report.outcome].label
    if report.failure:
        return f"{label}: {_printable(report.failure.message)[:200]}"
    variant = f" (as {report.variant})" if report.variant else ""
    speedup = f", {report.speedup:.2f} times as fast as eager" if report.speedup else ""
    return f"{label}{variant}{speedup}"


def _printable(text: str) -> str:
    """A stranger's text on one line, without what would steer the terminal."""
    return "".join(
        sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text.replace("\n", " ")
    )


def _say_found(upload: Upload) -> None:
    missing = sum(len(names) for names in CATALOGUE.values()) - len(upload.kernels)
    print(f"Found kernels for {len(upload.kernels)} tasks; {missing} of the benchmark's tasks are missing.")
    for problem in upload.problems:
        print(_printable(f"  {problem.place}: {problem.message}"))


def _say_summary(reports: Sequence[Report]) -> None:
    if not reports:
        return
    width = max(len(report.task) for report in reports)
    print()
    for report in reports:
        speedup = f"{report.speedup:8.2f}×" if report.speedup else " " * 9
        cases = f"{report.cases_passed}/{report.cases_total}" if report.cases_total else ""
        print(f"{report.task:<{width}}  {OUTCOMES[report.outcome].label:<33}{cases:>6}{speedup}")
    print()
    for outcome, count in Counter(report.outcome for report in reports).most_common():
        print(f"{count:4} {OUTCOMES[Outcome(outcome)].label}")
    compiled, correct = sum(r.compiled for r in reports), sum(r.correct for r in reports)
    print(f"{len(reports):4} kernels: {compiled} ran on every case, {correct} are right.")


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
