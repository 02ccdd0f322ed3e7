"""What the child says of an error: the reason in one sentence, without the compiler's excerpt of the source."""

from __future__ import annotations

import pytest

from evaluator.child import _describe

EXCERPT = "at 8:13:\ndef kernel(x, n):\n    y = tl.tanh(x)\n        ^\n"


class CompilationError(Exception):
    pass


def raised(text: str, cause: Exception | None) -> BaseException:
    try:
        raise CompilationError(text) from cause
    except CompilationError as error:
        return error


@pytest.mark.parametrize(
    ("text", "cause", "message"),
    [
        (EXCERPT + "Unsupported ptr type", None, "CompilationError: Unsupported ptr type"),
        (EXCERPT, ValueError("no such shape"), "CompilationError: no such shape"),
        ("plain words", None, "CompilationError: plain words"),
        ("plain words", ValueError("another"), "CompilationError: plain words"),
        (EXCERPT, None, "CompilationError: at 8:13: def kernel(x, n): y = tl.tanh(x) ^"),
    ],
)
def test_the_reason_stands_without_the_excerpt(text: str, cause: Exception | None, message: str) -> None:
    assert _describe(raised(text, cause), "cuda:0")["message"] == message
