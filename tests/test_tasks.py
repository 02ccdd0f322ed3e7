"""The tasks: what each declares is consistent, its reference is accepted, and what is nearly right is not."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluator import wire
from evaluator.compare import Answer, check
from evaluator.inputs import Maker
from evaluator.near_misses import MISSES, answer_of, call_of, copied, excuse, refusals, small_cases
from tasks import registry, version
from tasks.catalogue import CATALOGUE
from tasks.registry import all_tasks, find
from tasks.spec import Call, Case, Task, Thresholds, Tolerance

torch.set_num_threads(1)

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT.parent / "shared" / "kbx" / "tasks.json"

TASKS = [pytest.param(task, id=task.name) for task in all_tasks().values()]
each_task = pytest.mark.parametrize("task", TASKS)


def tensors(call: Call) -> list[torch.Tensor]:
    return list(wire.tensors(call))


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())


# Declarations


def test_the_registry_loads_without_torch_and_quickly():
    code = (
        "import sys, time; sys.modules['torch'] = sys.modules['triton'] = None; start = time.process_time();"
        "from tasks.registry import all_tasks; print(len(all_tasks()), time.process_time() - start)"
    )
    results = [run(code, ROOT).stdout.split() for _ in range(3)]
    assert {int(count) for count, _ in results} == {len(TASKS)}
    assert min(float(seconds) for _, seconds in results) < 0.2


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_there_is_a_task_in_each_category():
    assert {task.category for task in all_tasks().values()} == set(CATALOGUE)
    assert sum(len(names) for names in CATALOGUE.values()) == 176


@each_task
def test_its_text_says_what_its_reference_takes(task):
    assert task.signature.startswith(f"{task.entry}(")
    told = re.findall(r"[(,] *\*?(\w+)", task.signature.split(" -> ")[0])
    evaluators = inspect.signature(task.use).parameters if task.use else {}  # no method hears of these
    taken = [name for name in inspect.signature(task.reference).parameters if name not in evaluators]
    assert [name for name in told if name in taken] == taken
    for name in told:
        assert re.search(rf"\b{name}\b", task.prompt), f"the prompt does not mention {name}"
    assert len(task.prompt) > 80
    assert task.formula


@each_task
def test_its_cases_are_json_and_all_different(task):
    for cases in (task.correctness, task.timing):
        texts = [json.dumps(case, allow_nan=False, sort_keys=True) for case in cases]
        assert [json.loads(text) for text in texts] == list(cases)
        assert len(set(texts)) == len(texts)


@each_task
def test_its_first_case_is_cheap_and_small_cases_suffice(task):
    assert task.case_bytes(task.correctness[0]) <= min(10_000, *map(task.case_bytes, task.timing))
    assert len(list(small_cases(task))) >= min(5, len(task.correctness))


@each_task
def test_every_option_of_the_operator_is_tried(task):
    parameters = inspect.signature(task.reference).parameters
    untried = {name for name, p in parameters.items() if p.default is not p.empty}
    for case in small_cases(task):
        arguments, keywords = call_of(task, case)
        given = inspect.signature(task.reference).bind(*arguments, **keywords).arguments
        untried -= {
            name
            for name, value in given.items()
            if isinstance(value, torch.Tensor) or value != parameters[name].default
        }
    assert not untried


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("Math/abs.py", "abs"),
        ("fused_relu_sqrt", "fused_relu_sqrt"),
        ("relu_sqrt", "fused_relu_sqrt"),
        ("lion_step", "Lion"),
        ("Lion", "Lion"),
        ("sgd_step", "SGD"),
        ("index_fill_", "index_fill_"),
        ("no_such_operator", None),
    ],
)
def test_uploads_may_use_other_names(name, task):
    assert find(name) == task


def test_an_optimizers_function_is_named_as_the_task_asks():
    assert all_tasks()["Lion"].entries[0] == "lion_step"
    assert {"Lion", "kernel_function"} <= set(all_tasks()["Lion"].entries)


# Inputs


@each_task
def test_the_seed_decides_the_inputs(task):
    fixed = {"values", "weight", "identity"}  # the same with every seed, in whole or in part
    drawn = [case for case in small_cases(task) if task.category != "Random" and case.get("shape") != [0]]
    drawn = [case for case in drawn if not fixed & case.keys()]
    for case in small_cases(task):
        assert all(map(equal, tensors(call_of(task, case)), tensors(call_of(task, case)))), case
    differ = [
        not all(map(equal, tensors(call_of(task, case, 1)), tensors(call_of(task, case, 2))))
        for case in drawn
    ]
    assert all(differ), [case for case, d in zip(drawn, differ, strict=True) if not d]


@each_task
def test_timing_inputs_make_the_operator_work(task):
    case = min(task.timing, key=task.case_bytes)
    call = call_of(task, case)
    answer, again = answer_of(task, call), answer_of(task, call_of(task, case, 2))
    for output, other in zip(answer.outputs, again.outputs, strict=True):
        assert output.isfinite().all()
        assert output.numel() == 1 or not equal(output, output.roll(1)), "the result is constant"
        assert task.name == "logspace" or not equal(output, other), "the result does not depend on the inputs"
    first = tensors(call)[:1]
    unchanged = [argument for argument in first if any(equal(argument, output) for output in answer.outputs)]
    assert not unchanged, "the operator is the identity"


@each_task
def test_timing_cases_are_declared_well(task):
    moved = [task.case_bytes(case) for case in task.timing]
    assert moved[-1] == max(moved) or task.case_flops(task.timing[-1]) == max(
        map(task.case_flops, task.timing)
    )
    assert all(4 * size < 20e9 for size in moved)
    for case in task.timing:
        shapes_of(task, case)  # the generator takes them all
        assert task.case_flops(case) >= 0
    for case in task.correctness:
        assert task.case_bytes(case) >= 0 and task.case_flops(case) >= 0


TOUCHES_A_PART = {
    "Adam": "writes its state too, which is no argument",
    "index_fill_": "reads the indices and writes the elements that they name",
    "fused_index_select_eq": "reads the slices that are chosen",
    "index_select": "reads the slices that are chosen",
    "nll_loss": "reads one element of each row",
    "matrix_multiply_and_row_dot": "reads two rows of two of its matrices",
    **dict.fromkeys(
        [
            "cholesky",
            "cholesky_solve",
            "fused_cholesky_solve",
            "ldl_factor",
            "matrix_power_eig",
            "solve_and_add_scaled_vector",
            "solve_symmetric_ldl",
            "symmetric_matrix_vector_norm",
            "tril_mm_and_scale",
        ],
        "reads one triangle of a matrix",
    ),
}


@each_task
def test_bytes_moved_are_those_of_the_tensors(task):
    if task.name in TOUCHES_A_PART:
        pytest.skip(TOUCHES_A_PART[task.name])
    case = min(task.timing, key=task.case_bytes)
    call = call_of(task, case)
    arguments, keywords = copied(call)
    result = task.reference(*arguments, **keywords)
    results = result if isinstance(result, tuple) else (result,)
    new = [output for output in results if not any(output is argument for argument in arguments)]
    changed = [
        after
        for before, after in zip(tensors(call), tensors((arguments, keywords)), strict=True)
        if not equal(before, after)
    ]
    assert task.case_bytes(case) == sum(tensor.nbytes for tensor in (*tensors(call), *new, *changed))


class MetaMaker(Maker):
    """Shapes without data."""

    def __init__(self, dtype: str) -> None:
        super().__init__(0, "cpu", dtype)
        self._device = torch.device("meta")
        self._generator = None

    def permutation(self, n: int) -> torch.Tensor:
        return torch.empty(n, dtype=torch.int64, device="meta")


def shapes_of(task: Task, case: Case) -> list[list[int]]:
    """Shapes of tensors, and sizes that are given as such, in the order of the call."""
    arguments, keywords = task.inputs(MetaMaker(task.dtype), **case)
    values = [*arguments, *keywords.values()]
    return [shape for value in values if (shape := _shape(value)) is not None]


def _shape(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return [_shape(item) for item in value]
    shape = value.shape if isinstance(value, torch.Tensor) else value
    return list(shape) if isinstance(shape, tuple) else None


AS_MATRICES = {"fused_sum_std"}  # the published vectors, in another shape: a single sum has no deviation


@pytest.mark.samples
@each_task
def test_timing_sizes_are_the_published_ones(task):
    (facts,) = (fact for fact in json.loads(FACTS.read_text())["tasks"] if fact["id"] == task.name)
    theirs = [[part for part in size if isinstance(part, list)] for size in facts["timing_sizes"]]
    ours = [shapes_of(task, case)[: len(theirs[0])] for case in task.timing]
    theirs = [shapes[: len(ours[0])] for shapes in theirs]  # some tell the result's shape too
    if task.name in AS_MATRICES:
        ours = [[[prod(shape)] for shape in shapes] for shapes in ours]
    assert all(shapes in theirs for shapes in ours)
    if any(shapes not in ours for shapes in theirs):
        text = (ROOT / "docs" / "differences.md").read_text()
        assert re.search(rf"^- \*\*{task.name}\*\*.*left out", text, re.MULTILINE)


# References


@each_task
def test_its_reference_is_accepted_and_changes_only_what_it_declares(task):
    touched: set[int] = set()
    for case in small_cases(task):
        call = call_of(task, case)
        arguments, keywords = copied(call)
        task.reference(*arguments, **keywords)
        for position, (before, after) in enumerate(zip(call[0], arguments, strict=True)):
            if isinstance(before, torch.Tensor) and not equal(before, after):
                touched.add(position)
        answer = answer_of(task, call)
        assert check(task, case, call, answer) is None
        if "values" not in case:
            assert all(tensor.isfinite().all() for tensor in (*answer.outputs, *answer.mutated)), case
    assert touched == set(task.mutates)


@each_task
def test_its_published_readings_are_readings_of_their_own(task):
    for name, function in task.variants.items():
        refused = []
        for case in small_cases(task):
            call = call_of(task, case)
            answer = answer_of(task, call, function)
            assert check(task, case, call, answer, reading=name) is None, (name, case)
            refused.append(check(task, case, call, answer) is not None)
        assert any(refused), f"{name}: no case tells it from the operator"


# Near misses


@pytest.mark.parametrize("miss", MISSES)
@each_task
def test_a_near_miss_is_refused(task, miss):
    if reason := excuse(task, miss):
        pytest.skip(reason)
    assert any(refusals(task, MISSES[miss]))


@pytest.mark.parametrize("task", [p for p in TASKS if p.values[0].mutates])
def test_leaving_an_argument_as_it_was_is_refused(task):
    # Where a published reading does so as well, the operator itself must still tell the difference.
    def unchanged(call):
        return tuple(call[0][position] for position in task.mutates)

    calls = [(case, call_of(task, case)) for case in small_cases(task)]
    answers = [(case, call, answer_of(task, call)) for case, call in calls]
    assert any(
        check(task, case, call, Answer(answer.outputs, unchanged(call), answer.structure))
        for case, call, answer in answers
    )


def test_a_determinant_without_the_sign_of_its_permutation_is_refused():
    task = all_tasks()["determinant_lu"]
    assert any(refusals(task, lambda call, answer: [answer.outputs[0].abs()]))


def test_any_basis_of_singular_vectors_is_accepted_and_another_matrix_is_not():
    task, case = all_tasks()["svd"], {"shape": [7, 4], "full_matrices": True}
    call = call_of(task, case)
    U, S, Vh = answer_of(task, call).outputs
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0])
    turned = torch.cat([U[:, :4] * signs, U[:, 4:].flip(1)], dim=1)
    assert check(task, case, call, Answer((turned, S, Vh * signs[:, None]), structure="tuple")) is None
    assert check(task, case, call, Answer((U, S, Vh * signs[:, None]), structure="tuple"))


def given(name: str, *values: torch.Tensor, **case: Any) -> bool:
    """Whether a tuple is accepted for one case of a task with free outputs."""
    task = all_tasks()[name]
    return check(task, case, call_of(task, case), Answer(values, structure="tuple")) is None


def made(name: str, **case: Any) -> tuple[torch.Tensor, ...]:
    """The reference's own answer to that case."""
    return answer_of(all_tasks()[name], call_of(all_tasks()[name], case)).outputs


@pytest.mark.parametrize(
    "case",
    [{"shape": [3, 3]}, {"shape": [17, 17]}, {"shape": [3, 5, 5]}, {"shape": [9, 9], "dtype": "float64"}],
)
def test_eigenvalues_in_any_order_with_vectors_of_any_phase_are_accepted(case):
    values, V = made("eig", **case)
    n = V.shape[-1]
    phases = torch.polar(torch.ones(n), torch.arange(n) * 0.7)
    assert given("eig", values.flip(-1), V.flip(-1) * phases, **case)
    assert not given("eig", values.flip(-1), V * phases, **case)
    assert not given("eig", values, 2 * V, **case)
    wrong = V.clone()
    wrong[..., 0] = V[..., 1]  # a vector of another eigenvalue
    assert not given("eig", values, wrong, **case)


@pytest.mark.parametrize(
    "case",
    [
        {"shape": [8, 8], "dtype": "float64", "symmetric": True},
        {"shape": [3, 3], "values": [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
    ],
)
def test_no_eigenvalue_is_given_twice(case):
    values, V = made("eig", **case)
    one, other = (0, -1) if "symmetric" in case else (values.imag.argmax(), values.imag.argmin())
    values[one], V[:, one] = values[other], V[:, other]
    V[0, one] += 2e-5  # within the tolerance, and no longer the same vector
    assert not given("eig", values, V, **case)


def test_any_basis_belongs_to_an_eigenvalue_that_repeats_but_no_fewer_vectors():
    identity = {"shape": [2, 2], "values": [1.0, 0.0, 0.0, 1.0]}
    values, _ = made("eig", **identity)
    basis = torch.tensor([[1.0, 0.6], [0.0, 0.8]], dtype=torch.complex64)
    assert given("eig", values, basis, **identity)
    assert not given("eig", values, basis[:, [0, 0]].contiguous(), **identity)


@pytest.mark.parametrize("shape", [[7, 4], [3, 9, 5]])
def test_any_signs_and_spare_columns_of_a_qr_factorisation_are_accepted(shape):
    Q, R = made("qr", shape=shape, mode="complete")
    n = shape[-1]
    signs = torch.tensor([1.0, -1.0] * n)[: shape[-2]]
    turned = torch.cat([Q[..., :n], Q[..., n:].flip(-1)], dim=-1)
    assert given("qr", turned * signs, R * signs.unsqueeze(-1), shape=shape, mode="complete")
    assert not given("qr", turned * signs, R, shape=shape, mode="complete")
    wrong = Q.clone()
    wrong[..., -1] = Q[..., 0]  # not orthogonal, though it meets only zeros
    assert not given("qr", wrong, R, shape=shape, mode="complete")
    mirror = torch.eye(n) - 2 / n
    assert not given("qr", Q[..., :n] @ mirror, mirror @ R[..., :n, :], shape=shape)  # no triangle


def test_the_signs_of_r_alone_are_free_too():
    empty, R = made("qr", shape=[5, 8], mode="r")
    assert given("qr", empty, -R, shape=[5, 8], mode="r")
    assert not given("qr", empty, R.flip(-1), shape=[5, 8], mode="r")


@pytest.mark.parametrize("shape", [[9, 9], [3, 5, 5]])
def test_only_permutations_and_unit_triangles_make_an_lu_factorisation(shape):
    P, L, U = made("lu", shape=shape)
    assert given("lu", P, L, U, shape=shape)
    assert not given("lu", P.mT.contiguous(), L, U, shape=shape)
    assert not given("lu", P, 2 * L, U / 2, shape=shape)
    signs = torch.ones(shape[-1])
    signs[1] = -1.0  # P with a negative element
    assert not given("lu", P * signs, L * signs * signs[:, None], U * signs[:, None], shape=shape)


def test_a_row_with_two_ones_is_no_row_of_a_permutation():
    A = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    P, L = torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.0], [-0.5, 1.0]])
    U = torch.tensor([[2.0, 1.0], [0.0, 2.5]])
    assert torch.equal(P @ L @ U, A)
    answer = Answer((P, L, U), structure="tuple")
    assert check(all_tasks()["lu"], {"shape": [2, 2]}, ([A], {}), answer)


@pytest.mark.parametrize("shape", [[9, 9], [3, 5, 5]])
def test_factors_without_pivoting_are_unit_triangles_too(shape):
    empty, L, U = made("lu", shape=shape, pivot=False)
    lower = torch.eye(shape[-1]) + torch.ones(shape[-2:]).tril(-1)
    case = {"shape": shape, "pivot": False}
    assert given("lu", empty, L, U, **case)
    assert not given("lu", empty, L, 2 * U, **case)
    assert not given("lu", empty, 2 * L, U / 2, **case)
    assert not given("lu", empty, L @ lower, lower.inverse() @ U, **case)
    assert not given("lu", empty, L @ lower.mT, lower.mT.inverse() @ U, **case)


@pytest.mark.parametrize(
    ("rows", "corner", "accepted"), [([0, 1], 3.0, True), ([1, 0], 3.0, True), ([0, 1], 4.0, False)]
)
def test_only_a_pivot_as_large_as_any_other_is_accepted(rows, corner, accepted):
    A = torch.tensor([[3.0, 1.0], [-corner, 2.0]])
    first, second = A[rows]
    L = torch.tensor([[1.0, 0.0], [second[0] / first[0], 1.0]])
    U = torch.stack([first, second - L[1, 0] * first])
    answer = Answer((torch.eye(2)[rows].mT, L, U), structure="tuple")
    assert (check(all_tasks()["lu"], {"shape": [2, 2]}, ([A], {}), answer) is None) == accepted


def ldl_of(A: torch.Tensor, rows: list[int], whole_rows: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """An LDL factorisation in compact form with these exchanges: step k takes row `rows[k]`."""
    order, n = list(range(len(A))), len(A)
    LD = A.double().tril()
    LD = LD + LD.tril(-1).mT
    for k, row in enumerate(rows):
        order[k], order[row] = order[row], order[k]
        first = 0 if whole_rows else k
        LD[[k, row], first:] = LD[[row, k], first:]
        LD[k:, [k, row]] = LD[k:, [row, k]]
        column = LD[k + 1 :, k] / LD[k, k]
        LD[k + 1 :, k + 1 :] -= LD[k, k] * column.outer(column)
        LD[k + 1 :, k] = column
    assert sorted(order) == list(range(n))
    return LD.tril().float(), torch.tensor([row + 1 for row in rows], dtype=torch.int32)


@pytest.mark.parametrize("whole_rows", [False, True])
@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [3, 1, 2, 4, 4], [4, 3, 4, 3, 4]])
def test_any_pivots_of_an_ldl_factorisation_are_accepted(rows, whole_rows):
    case = {"shape": [5, 5], "definite": True}
    A = call_of(all_tasks()["ldl_factor"], case)[0][0]
    LD, pivots = ldl_of(A, rows, whole_rows)
    assert given("ldl_factor", LD, pivots, **case)
    assert given("ldl_factor", LD + torch.ones(5, 5).triu(1), pivots, **case)
    others = torch.tensor([2, *pivots.tolist()[1:]], dtype=torch.int32)
    assert not given("ldl_factor", LD, others, **case)
    wrong = LD.clone()
    wrong[:, 1] *= -1
    assert not given("ldl_factor", wrong, pivots, **case)


@pytest.mark.parametrize(
    "pivots", [[0, 2, 3], [1, 2, 4], [2, 1, 3], [1, 2, -3], [-1, -1, 3], [-2, 2, 3], [-(2**31), 2, 3]]
)
def test_pivots_that_are_none_are_refused(pivots):
    case = {"shape": [3, 3], "definite": True}
    LD, _ = ldl_of(call_of(all_tasks()["ldl_factor"], case)[0][0], [0, 1, 2], False)
    assert given("ldl_factor", LD, torch.tensor([1, 2, 3], dtype=torch.int32), **case)
    assert not given("ldl_factor", LD, torch.tensor(pivots, dtype=torch.int32), **case)


def test_the_factors_in_compact_form_are_multiplied_right():
    task = all_tasks()["ldl_factor"]
    for case in small_cases(task):
        call = call_of(task, case)
        (product,) = task.invariants(call, answer_of(task, call).outputs).values()
        assert torch.allclose(product, call[0][0], atol=1e-5)
        assert torch.allclose(product, product.mH, atol=1e-5)


def test_both_pivots_of_a_block_of_two_are_the_same():
    LD, pivots = made("ldl_factor", shape=[2, 2])
    assert pivots.tolist() == [-2, -2] and given("ldl_factor", LD, pivots, shape=[2, 2])
    assert not given("ldl_factor", LD, pivots + torch.tensor([0, 1], dtype=torch.int32), shape=[2, 2])


def test_an_indefinite_matrix_is_factorised_with_blocks_of_two():
    case = {"shape": [16, 16], "dtype": "complex64", "hermitian": True}
    LD, pivots = made("ldl_factor", **case)
    assert (pivots < 0).any() and (pivots > 0).any()
    assert given("ldl_factor", LD, pivots, **case)
    start = int((pivots < 0).int().argmax())
    LD[start + 1, start] = LD[start + 1, start].conj() * 1j
    assert not given("ldl_factor", LD, pivots, **case)


# The registry


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package, to break."""
    shutil.copytree(ROOT / "tasks", tmp_path / "tasks", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("math/abs.py", "TASK = Task(", "TASK = Task((", "tasks.math.abs: SyntaxError"),
        ("math/abs.py", "TASK = Task(", "OTHER = Task(", "tasks.math.abs: AttributeError"),
        ("math/abs.py", "    reference=reference,\n", "", "tasks.math.abs: TypeError"),
        ("math/abs.py", "correctness=[", "correctness=[] and [", "tasks.math.abs: ValueError"),
        ("math/abs.py", 'name="abs"', 'name="cos"', "abs.py: declares Math/cos"),
        ("math/abs.py", 'category="Math"', 'category="Loss"', "abs.py: declares Loss/abs"),
        ("catalogue.py", '        "abs",\n', "", "abs.py: the benchmark has no task Math/abs"),
    ],
)
def test_a_broken_task_file_is_named(house, file, old, new, says):
    path = house / "tasks" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    result = run("from tasks.registry import all_tasks; all_tasks()", house)
    assert result.returncode
    assert "TaskError" in result.stderr and says in result.stderr


def test_a_name_that_means_two_tasks_is_an_error(house):
    path = house / "tasks" / "math" / "abs.py"
    path.write_text(path.read_text().replace('name="abs",', 'name="abs", aliases=("cos",),'))
    result = run("from tasks.registry import find; find('abs')", house)
    assert "the name 'cos' already means cos" in result.stderr


@pytest.fixture
def version_in(house, monkeypatch) -> Callable[[str, str], str]:
    monkeypatch.setattr(version, "__file__", str(house / "tasks" / "version.py"))

    def of(name: str, category: str) -> str:
        version._judged.cache_clear()
        return version.definition_hash(name, category)

    yield of
    version._judged.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ('"""GELU:', '"""Gelu:', False),
        ("# erf counts", "# the function counts", False),
        ("Apply the Gaussian", "Use the Gaussian", False),
        (r"y = x\,\Phi(x)", r"y = \Phi(x)\,x", False),
        ("\n\n\nTASK", "\n\n\n\n\nTASK", False),
        ('{"shape": [7]}', '{"shape": [8]}', True),
        ("approximate=approximate", 'approximate="none"', True),
        ("5 * prod(shape)", "6 * prod(shape)", True),
    ],
)
def test_a_version_follows_the_code_and_not_the_words(house, version_in, old, new, changes):
    names = [("gelu", "Activation"), ("gelu_bf16", "Activation"), ("abs", "Math")]
    before = [version_in(*name) for name in names]
    path = house / "tasks" / "activation" / "gelu.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    after = [version_in(*name) for name in names]
    differ = [one != other for one, other in zip(before, after, strict=True)]
    assert differ == [changes, changes, False]  # gelu_bf16 imports gelu


def test_versions_differ_between_tasks():
    versions = {registry.task_version(name) for name in all_tasks()}
    assert len(versions) == len(TASKS)
    assert all(re.fullmatch(r"[0-9a-f]{12}", value) for value in versions)


# The specification


def declared(**fields: Any) -> Task:
    return all_tasks()["abs"].derive("abs", **fields)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"correctness": []}, "correctness case"),
        ({"comparator": "quantized"}, "thresholds"),
        ({"thresholds": Thresholds(0.9, 0.1, 0.1)}, "thresholds"),
        ({"comparator": "invariants"}, "invariants"),
    ],
)
def test_a_contradiction_in_a_declaration_is_an_error(fields, says):
    with pytest.raises(ValueError, match=says):
        declared(**fields)


def test_a_derived_task_takes_the_rest_from_its_base():
    base = all_tasks()["Lion"]
    other = base.derive("AdamW", dtype="float16", tolerance=Tolerance(1e-2, 1e-2))
    assert (other.entry, other.aliases, other.itemsize) == ("AdamW", (), 2)
    assert other.reference is base.reference
    assert other.case_bytes({"shape": [8]}) == base.case_bytes({"shape": [8]}) // 2


# The walk-through


def test_the_example_of_the_documentation_is_a_task(house):
    text = (ROOT / "docs" / "adding-a-task.md").read_text()
    (example,) = re.findall(r"```python\n(\"\"\".*?)```", text, re.DOTALL)
    (file,) = re.findall(r"tasks/(math/\w+\.py)` with", text)
    (house / "tasks" / file).write_text(example)
    name = Path(file).stem
    code = f"from tasks.registry import all_tasks, task_version; print(task_version({name!r}))"
    assert re.fullmatch(r"[0-9a-f]{12}\n", run(code, house).stdout)

    scope: dict[str, Any] = {}
    exec(compile(example, file, "exec"), scope)
    task = scope["TASK"]
    test_its_text_says_what_its_reference_takes(task)
    test_its_cases_are_json_and_all_different(task)
    test_its_reference_is_accepted_and_changes_only_what_it_declares(task)
    test_every_option_of_the_operator_is_tried(task)
    test_timing_inputs_make_the_operator_work(task)
    test_timing_cases_are_declared_well(task)
    test_bytes_moved_are_those_of_the_tensors(task)
    for miss in MISSES:
        test_a_near_miss_is_refused(task, miss)
