"""The seeded factory: judge and child must make the same tensors, and tasks get what they ask for."""

import math

import pytest
import torch

from evaluator.inputs import OUTLIER_SCALE, Maker, case_seed
from tasks.registry import all_tasks

METHODS = {
    "normal": lambda make: make.normal(3, 4, mean=1.0, std=2.0, outliers=0.1),
    "uniform": lambda make: make.uniform(3, 4, low=-1.0, high=2.0),
    "integers": lambda make: make.integers(3, 4, low=0, high=1000),
    "boolean": lambda make: make.boolean(3, 4),
    "permutation": lambda make: make.permutation(12),
}


def maker(seed=1, dtype="float32"):
    return Maker(seed, "cpu", dtype)


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_tensors_and_another_seed_others(name):
    draw = METHODS[name]
    assert torch.equal(draw(maker(1)), draw(maker(1)))
    assert not torch.equal(draw(maker(1)), draw(maker(2)))


def test_draws_follow_one_another():
    make = maker()
    assert not torch.equal(make.normal(10), make.normal(10))


def test_the_factory_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    for draw in METHODS.values():
        draw(maker())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_the_dtype_is_the_tasks_unless_another_is_asked_for(dtype):
    make = maker(dtype=dtype)
    wanted = getattr(torch, dtype)
    for tensor in (make.normal(2), make.uniform(2), make.full(2, value=1.0), make.values([1.0])):
        assert tensor.dtype == wanted
    assert make.normal(2, dtype="float16").dtype == torch.float16
    assert make.integers(2, low=0, high=9).dtype == torch.int64
    assert make.integers(2, low=0, high=9, dtype="int32").dtype == torch.int32
    assert make.boolean(2).dtype == torch.bool


def test_normal_values_have_the_mean_and_the_spread_asked_for():
    values = maker().normal(100_000, mean=3.0, std=2.0)
    assert float(values.mean()) == pytest.approx(3.0, abs=0.05)
    assert float(values.std()) == pytest.approx(2.0, rel=0.02)


def test_outliers_are_as_many_and_as_large_as_asked_for():
    # The same draws with and without: what differs is the outliers, and by the factor.
    plain, spiked = maker().normal(100_000), maker().normal(100_000, outliers=0.01)
    changed = plain != spiked
    assert int(changed.sum()) == pytest.approx(1000, rel=0.15)
    assert torch.allclose(spiked[changed], plain[changed] * OUTLIER_SCALE)


def test_half_types_are_rounded_from_finer_draws():
    # bfloat16's own random numbers in [0, 1) take 256 values.
    assert maker(dtype="bfloat16").uniform(100_000).unique().numel() > 500


def test_uniform_values_and_integers_keep_to_their_range():
    values = maker().uniform(10_000, low=-2.0, high=3.0)
    assert -2.0 <= float(values.min()) < -1.9 and 2.9 < float(values.max()) <= 3.0
    integers = maker().integers(1000, low=-3, high=4)
    assert set(integers.tolist()) == set(range(-3, 4))


def test_booleans_have_the_share_and_permutations_every_number():
    assert float(maker().boolean(100_000, share=0.2).float().mean()) == pytest.approx(0.2, abs=0.01)
    assert sorted(maker().permutation(50).tolist()) == list(range(50))


def test_values_are_taken_as_they_stand_with_words_for_the_special_ones():
    tensor = maker().values([[1.5, "nan"], ["inf", "-inf"]])
    assert tensor.shape == (2, 2)
    assert tensor[0, 0] == 1.5 and math.isnan(tensor[0, 1])
    assert tensor[1].tolist() == [math.inf, -math.inf]
    assert maker().values([1, 2], dtype="int64").tolist() == [1, 2]


def test_the_seed_of_a_case_depends_on_every_part():
    seeds = {
        case_seed("run", "gelu", 0, "first"),
        case_seed("run 2", "gelu", 0, "first"),
        case_seed("run", "relu", 0, "first"),
        case_seed("run", "gelu", 1, "first"),
        case_seed("run", "gelu", 0, "again"),
        case_seed("run", "gelu", "0f", "irst"),
    }
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert case_seed("run", "gelu", 0) == case_seed("run", "gelu", 0)


@pytest.mark.parametrize("task", all_tasks().values(), ids=lambda task: task.name)
def test_the_first_case_of_every_task_is_the_same_twice(task):
    def drawn():
        arguments, keywords = task.inputs(Maker(3, "cpu", task.dtype), **task.correctness[0])
        return [v for v in [*arguments, *keywords.values()] if isinstance(v, torch.Tensor)]

    first, second = drawn(), drawn()
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one.nan_to_num(), other.nan_to_num())
