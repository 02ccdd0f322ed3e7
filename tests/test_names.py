"""Names that people give themselves on the form: what cannot be seen is no part of them."""

from __future__ import annotations

import pytest

from leaderboard.forms import SubmitForm
from leaderboard.models import User


@pytest.mark.parametrize("field", ["name", "base_model"])
@pytest.mark.parametrize(
    ("text", "sign"),
    [("Model \u202elive", "U+202E"), ("\u200b", "U+200B"), ("a\x1b[2Jb", "U+001B"), ("x\ufeffy", "U+FEFF")],
    ids=["reversed", "invisible", "escape", "mark"],
)
def test_a_name_with_a_character_that_cannot_be_seen_is_refused(
    db: None, field: str, text: str, sign: str
) -> None:
    form = SubmitForm({"name": "Model", "code": "x = 1", field: text}, user=User.objects.create_user("ada"))
    assert not form.is_valid()
    assert sign in str(form.errors[field])


@pytest.mark.parametrize("text", ["Qwen3-Coder 30B (4‑bit)", "日本語モデル", "Модель №2", "Modèle 🚀"])
def test_names_in_any_script_are_taken(db: None, text: str) -> None:
    form = SubmitForm({"name": text, "code": "x = 1"}, user=User.objects.create_user("ada"))
    form.is_valid()
    assert "name" not in form.errors
