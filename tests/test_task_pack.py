"""The task pack: what a method generates from it is found by the upload parser as it stands."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluator.upload import parse
from tasks.pack import FILE_NAME, pack
from tasks.registry import SUITE_VERSION, all_tasks

RECORDS = [json.loads(line) for line in pack().splitlines()]


def test_every_task_has_a_line():
    assert [record["file"] for record in RECORDS] == [task.file for task in all_tasks().values()]
    for record, task in zip(RECORDS, all_tasks().values(), strict=True):
        assert record.keys() == {"file", "instruction", "signature", "suite_version"}
        assert record["signature"] == task.signature
        assert record["suite_version"] == SUITE_VERSION
        for line in (
            f"\nFunctional Description: {task.prompt}\n",
            f"\nWrapper Entry Information: {task.signature}\n",
        ):
            assert line in record["instruction"]


@pytest.mark.parametrize("key", ["file", "instruction"])
def test_an_upload_made_from_it_is_found_whole(key):
    # Every answer is the same, so that nothing but the key tells the tasks apart.
    lines = [json.dumps({key: record[key], "predict": "import triton\n"}) for record in RECORDS]
    upload = parse("\n".join(lines).encode(), "answers.jsonl")
    assert upload.problems == ()
    assert list(upload.kernels) == list(all_tasks())


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    call_command("task_pack")
    assert (tmp_path / FILE_NAME).read_bytes() == pack()
    assert f"{len(RECORDS)} tasks" in capsys.readouterr().out
    call_command("task_pack", out=tmp_path / "other.jsonl", verbosity=0)
    assert (tmp_path / "other.jsonl").read_bytes() == pack()
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("task_pack", out=tmp_path / "nowhere" / "pack.jsonl")


def test_the_site_offers_it_and_sends_it_once(client):
    response = client.get("/tasks/pack.jsonl")
    assert response.content == pack()
    assert response["Content-Type"] == "application/jsonl"
    assert FILE_NAME in response["Content-Disposition"]
    assert "max-age" in response["Cache-Control"] and "public" in response["Cache-Control"]
    again = client.get("/tasks/pack.jsonl", headers={"if-none-match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.post("/tasks/pack.jsonl").status_code == 405


@pytest.mark.django_db
def test_the_page_of_all_tasks_links_it(client):
    call_command("sync_tasks", verbosity=0)
    assert 'href="/tasks/pack.jsonl"' in client.get("/tasks/").content.decode()
