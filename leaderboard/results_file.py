"""Results files of `python -m evaluator`, made on machines that cannot reach the site."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.report import Environment, Report, ReportError
from tasks.registry import SUITE_VERSION

SCHEMA = 1


class Unusable(Exception):
    """The file is no results file that this site can take; the message says why."""


@dataclass(frozen=True)
class ResultsFile:
    """What one evaluation found, and where it took place."""

    environment: Environment
    seed: str
    reports: tuple[Report, ...]


def read(path: Path) -> ResultsFile:
    """The results in a .json or .json.gz file. Raises Unusable."""
    try:
        data = path.read_bytes()
        content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError, EOFError) as error:
        raise Unusable(f"{path} is not JSON.") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise Unusable(f"{path} is not a results file of schema {SCHEMA}.")
    return _parsed(path, content)


def _parsed(path: Path, content: dict[str, Any]) -> ResultsFile:
    try:
        environment = Environment.from_json(content["environment"])
        reports = tuple(Report.from_json(report) for report in content["reports"])
        seed = content["seed"]
    except (KeyError, TypeError, ReportError) as error:
        raise Unusable(f"{path} does not have the form of a results file: {error}.") from error
    if environment.suite_version != SUITE_VERSION:
        raise Unusable(
            f"{path} was made with the suite {environment.suite_version}; this site runs {SUITE_VERSION}. "
            "Results of different suites are never compared: evaluate again."
        )
    if not isinstance(seed, str) or not 0 < len(seed) <= 32:
        raise Unusable(f"{path}: its seed is no text of at most 32 characters.")
    if strange := [report.task for report in reports if report.device != environment.device]:
        raise Unusable(f"{path}: the report on {strange[0]} is from another device than the file.")
    if len({report.task for report in reports}) < len(reports):
        raise Unusable(f"{path}: two reports are on the same task.")
    return ResultsFile(environment, seed, reports)
