"""The upload parser: every format that is accepted, and every way in which a file can be wrong."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.upload import Limits, Upload, UploadError, parse, strip_fences

SOURCE = "import triton\n\n\ndef relu(input, inplace=False):\n    return input\n"
GOOD = {"file": "Math/abs.py", "predict": "x = 1"}
SAMPLES = Path(__file__).parent.parent.parent / "shared" / "samples"


def jsonl(*records: object) -> bytes:
    return b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records)


def zipped(**entries: bytes | str) -> bytes:
    return zipped_items(*entries.items())


def zipped_items(*entries: tuple[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def problems(upload: Upload) -> list[tuple[str, str]]:
    return [(problem.kind, problem.place) for problem in upload.problems]


class TestFormats:
    def test_jsonl_with_file_names(self):
        upload = parse(
            jsonl({"file": "Activation/relu.py", "predict": SOURCE}, {"file": "abs", "predict": "x = 1"}), "r"
        )
        assert upload.kernels == {"relu": SOURCE, "abs": "x = 1"}
        assert upload.problems == ()

    def test_jsonl_with_instructions_finds_the_task_by_the_entry_name(self):
        text = "…\nFunctional Description: d\nWrapper Entry Information: def relu(input, inplace=False) -> Tensor: …"
        assert parse(jsonl({"instruction": text, "predict": SOURCE}), "r.jsonl").kernels == {"relu": SOURCE}

    @pytest.mark.parametrize(
        ("written", "task"),
        [
            ("relu_sqrt(", "fused_relu_sqrt"),
            ("torch.linalg.svd(A", "svd"),
            (" fused_add_mean (", "fused_add_mean"),
        ],
    )
    def test_older_names_are_understood(self, written, task):
        upload = parse(
            jsonl({"instruction": f"Wrapper Entry Information:{written}", "predict": SOURCE}), "r.jsonl"
        )
        assert list(upload.kernels) == [task]

    def test_an_instruction_without_a_name_is_found_by_what_the_source_defines(self):
        record = {"instruction": "Wrapper Entry Information: input (Tensor): the input.", "predict": SOURCE}
        assert list(parse(jsonl(record), "r.jsonl").kernels) == ["relu"]

    def test_zip_of_sources_and_jsonl(self):
        data = zipped_items(
            ("Activation/relu.py", SOURCE),
            ("more.jsonl", jsonl({"file": "Math/abs.py", "predict": "y = 2"})),
            ("__MACOSX/._relu.py", b"\x00"),
        )
        upload = parse(data, "kernels.zip")
        assert upload.kernels == {"relu": SOURCE, "abs": "y = 2"}
        assert upload.problems == ()

    def test_one_python_file_by_its_name_or_by_what_it_defines(self):
        assert parse(b"x = 1", "relu.py").kernels == {"relu": "x = 1"}
        assert parse(SOURCE.encode(), "my_kernel.py").kernels == {"relu": SOURCE}

    def test_a_source_that_begins_like_a_zip_is_a_source(self):
        assert parse(b"PK = 1", "relu.py").kernels == {"relu": "PK = 1"}

    def test_a_zip_is_known_by_its_content_not_by_its_name(self):
        assert list(parse(zipped_items(("relu.py", SOURCE)), "kernels.txt").kernels) == ["relu"]


class TestText:
    def test_windows_line_ends_and_byte_order_marks_vanish(self):
        source = "\ufeff" + SOURCE.replace("\n", "\r\n")
        data = b"\xef\xbb\xbf" + jsonl({"file": "relu.py", "predict": source}).replace(b"\n", b"\r\n")
        assert parse(data, "r.jsonl").kernels == {"relu": SOURCE}
        assert parse(source.encode(), "relu.py").kernels == {"relu": SOURCE}

    @pytest.mark.parametrize(
        "answer",
        [
            f"```python\n{SOURCE}```",
            f"Here it is:\n\n```\nx\n```\n\n```py\n{SOURCE}```\nIt is fast.",
            f"Sure.\n```python\n{SOURCE}",  # cut off before its end
        ],
    )
    def test_markdown_fences_are_stripped(self, answer):
        assert strip_fences(answer) == SOURCE

    def test_an_answer_over_the_limit_is_not_parsed(self, monkeypatch):
        monkeypatch.setattr("evaluator.upload._parses", None)
        answer = f"```python\n{SOURCE}```\n" + "It is fast. " * 100
        data = jsonl(
            {"file": "relu.py", "predict": answer},
            {"file": "abs.py", "predict": "a = [" + "1," * 1000 + "]  # ```"},
        )
        upload = parse(data, "r.jsonl", Limits(kernel_bytes=1_000))
        assert upload.kernels == {"relu": SOURCE}
        assert problems(upload) == [("too_large", "line 2")]

    def test_fences_inside_valid_python_stay(self):
        source = 'def relu(x):\n    """\n```\nx\n```\n"""\n    return x\n'
        assert strip_fences(source) == source


class TestWholeFileRefused:
    @pytest.mark.parametrize(
        ("data", "name", "sentence"),
        [
            (b"", "r.jsonl", "empty"),
            (b"x" * 101, "r.jsonl", "at most 0.0001 MB"),
            (b"hello", "r.txt", "neither JSONL"),
            (b"\x89PNG\r\n", "r.png", "neither JSONL"),
            (b"PK\x03\x04broken", "r.zip", "cannot be opened"),
            (b"  \n \n", "r.jsonl", "empty"),
            (b"\xef\xbb\xbf\r\n", "r.jsonl", "empty"),
            (b"\n\t", "relu.py", "empty"),
        ],
    )
    def test_with_a_sentence(self, data, name, sentence):
        with pytest.raises(UploadError, match=sentence):
            parse(data, name, Limits(file_bytes=100))

    def test_an_empty_zip(self):
        with pytest.raises(UploadError, match="no kernel"):
            parse(zipped(), "r.zip")

    def test_a_zip_bomb(self):
        bomb = zipped_items(("relu.py", b"\n" * 20_000_000))
        assert len(bomb) < 50_000
        with pytest.raises(UploadError, match="Unpacked"):
            parse(bomb, "r.zip")

    def test_a_zip_bomb_of_many_entries(self):
        with pytest.raises(UploadError, match="Unpacked"):
            parse(
                zipped_items(*((f"{n}.py", b" " * 900) for n in range(5))),
                "r.zip",
                Limits(unpacked_bytes=4_000),
            )

    def test_a_zip_whose_header_lies_about_the_size(self):
        data = bytearray(zipped_items(("relu.py", b"#" * 1_000_000)))
        true_size, lie = (1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")
        with pytest.raises(UploadError, match="Unpacked"):
            parse(bytes(data), "r.zip", Limits(unpacked_bytes=1_000))
        upload = parse(bytes(data).replace(true_size, lie), "r.zip", Limits(unpacked_bytes=1_000))
        assert all(len(source) <= 1_000 for source in upload.kernels.values())

    def test_too_many_records(self):
        with pytest.raises(UploadError, match="more than 3 records"):
            parse(jsonl(*[{"file": "a", "predict": "b"}] * 4), "r.jsonl", Limits(records=3))


class TestOneRecordLeftOut:
    """Whatever is wrong with one record, its neighbours are read."""

    @pytest.mark.parametrize(
        ("record", "kind", "words"),
        [
            (b'{"file": "Activation/relu.py", "predict": ', "unreadable", "not valid JSON"),
            (b'{"file": "relu.py", "predict": "\xff"}', "unreadable", "not valid UTF-8"),
            (b"[1, 2]", "unreadable", "not an object"),
            (b'{"a":' * 100_000, "unreadable", "nested too deeply"),
            (b'{"a":' + b"1" * 10_000 + b"}", "unreadable", "too long"),
            ({"file": "Activation/relu.py"}, "unreadable", "no “predict”"),
            ({"file": "Activation/relu.py", "predict": None}, "unreadable", "not a string"),
            ({"predict": SOURCE}, "unreadable", "names no task"),
            ({"file": "Math/sqroot.py", "predict": SOURCE}, "unknown", "nearest name is"),
            ({"file": "", "predict": SOURCE}, "unknown", "No task"),
            ({"instruction": "write a kernel", "predict": "x"}, "unknown", "No task"),
            ({"file": "abs.py", "predict": "x = 2"}, "duplicate", "already found at line 1 (another kernel)"),
            ({"file": "relu.py", "predict": " \n"}, "empty", "is empty"),
            ({"file": "relu.py", "predict": "x\0"}, "unreadable", "null bytes"),
            (b'{"file": "relu.py", "predict": "\\ud800"}', "unreadable", "broken characters"),
            ({"file": "relu.py", "predict": "#" * 256_001}, "too_large", "256 kB"),
        ],
    )
    def test_in_jsonl(self, record, kind, words):
        upload = parse(jsonl(GOOD, record, {"file": "Math/cos.py", "predict": "y"}), "r.jsonl")
        assert upload.kernels == {"abs": "x = 1", "cos": "y"}
        assert problems(upload) == [(kind, "line 2")]
        assert words in upload.problems[0].message

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("../relu.py", SOURCE, "leaves the archive"),
            ("a/../../relu.py", SOURCE, "leaves the archive"),
            ("/etc/relu.py", SOURCE, "leaves the archive"),
            ("..\\relu.py", SOURCE, "leaves the archive"),
            ("C:/relu.py", SOURCE, "leaves the archive"),
            ("inner.zip", zipped_items(("relu.py", SOURCE)), "not opened"),
            ("notes.txt", "hello", "Only .py and .jsonl"),
            ("relu.py", b"\xff\xfe", "not valid UTF-8"),
            ("nothing.py", "x = 1", "no task 'nothing'"),
        ],
    )
    def test_in_a_zip(self, name, content, words):
        upload = parse(zipped_items(("Math/abs.py", "x = 1"), (name, content), ("cos.py", "y")), "r.zip")
        assert upload.kernels == {"abs": "x = 1", "cos": "y"}
        (problem,) = upload.problems
        assert words in problem.message

    def test_a_zip_entry_without_a_name(self):
        data = zipped_items(("Math/abs.py", "x = 1"), ("~.py", SOURCE)).replace(b"~.py", b"\0.py")
        upload = parse(data, "r.zip")  # the name ends at its null byte, so it is empty
        assert upload.kernels == {"abs": "x = 1"}
        assert problems(upload) == [("unreadable", "")]

    def test_a_name_that_hides_or_reorders_is_shown_as_it_is(self):
        (problem,) = parse(zipped_items(("gelu\u202eyp.exe", "x")), "r.zip").problems
        assert problem.place == "gelu[U+202E]yp.exe"
        (problem,) = parse(jsonl({"file": "no\u200b_such", "predict": "x"}), "r.jsonl").problems
        assert problem.name == "no[U+200B]_such"
        assert "\u200b" not in problem.message

    def test_a_source_may_hold_such_characters(self):
        source = "x = '\u200b'"
        assert parse(jsonl({"file": "abs", "predict": source}), "r").kernels == {"abs": source}

    def test_a_damaged_zip_entry(self):
        data = bytearray(zipped_items(("Math/abs.py", "x = 1"), ("relu.py", SOURCE * 50)))
        middle = data.index(b"relu.py") + len("relu.py") + 10
        data[middle : middle + 8] = b"\xff" * 8
        upload = parse(bytes(data), "r.zip")
        assert upload.kernels == {"abs": "x = 1"}
        assert "damaged" in upload.problems[0].message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
records = st.fixed_dictionaries(
    {}, optional={"file": st.sampled_from(["relu.py", "Math/abs.py"]) | json_values, "predict": json_values,
                  "instruction": json_values},
)  # fmt: skip
entry_names = st.sampled_from(["relu.py", "../x.py", "a.zip", "r.jsonl", "nul\0.py"]) | st.text(
    min_size=1, max_size=20
)


# CI's two cores are busy: how long one example takes says nothing about the parser
anything = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class TestAnything:
    """Whatever arrives, the parser answers with an Upload or an UploadError."""

    @anything
    @given(st.binary(max_size=300), st.sampled_from(["a.jsonl", "a.zip", "a.py", "relu.py", ""]))
    def test_bytes(self, data, name):
        self._parse(data, name)

    @anything
    @given(st.lists(records | st.binary(max_size=40), max_size=5))
    def test_jsonl(self, lines):
        self._parse(b"{}\n" + jsonl(*lines), "a.jsonl")

    @anything
    @given(
        st.lists(st.tuples(entry_names, st.binary(max_size=60)), max_size=4, unique_by=lambda e: e[0]),
        st.data(),
    )
    def test_zips_with_damaged_bytes(self, entries, data):
        try:
            archive = bytearray(zipped_items(*entries))
        except (UnicodeEncodeError, ValueError, IndexError):  # names that zipfile itself does not write
            return
        for _ in range(data.draw(st.integers(0, 3))):
            archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
        self._parse(bytes(archive), "a.zip")

    @staticmethod
    def _parse(data: bytes, name: str) -> None:
        try:
            upload = parse(data, name)
        except UploadError as error:
            assert str(error).endswith(".")
            return
        for source in upload.kernels.values():
            assert source.strip() and "\0" not in source
            source.encode()
        for problem in upload.problems:
            (problem.place + problem.name + problem.message).encode()
            assert problem.message and "\0" not in problem.place + problem.name + problem.message


@pytest.mark.samples
@pytest.mark.parametrize(
    ("file", "kernels", "unknown"),
    [("geak/round_0.jsonl", 52, 13), ("geak/round_1.jsonl", 66, 18), ("geak/round_2.jsonl", 33, 12)]
    + [("tritonbench_t/output_o1-2024-12-17.jsonl", 146, 20)],
)
def test_files_of_real_submitters(file, kernels, unknown):
    upload = parse((SAMPLES / file).read_bytes(), file)
    assert len(upload.kernels) == kernels
    assert [problem.kind for problem in upload.problems] == ["unknown"] * unknown
