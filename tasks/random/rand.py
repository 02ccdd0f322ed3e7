"""Random numbers, evenly distributed between 0 and 1."""

from math import prod

from tasks.lazy import torch
from tasks.spec import ITEMSIZES, Task


def reference(*size, generator=None, dtype=None, device=None, requires_grad=False):
    return torch.rand(*size, generator=generator, dtype=dtype, device=device, requires_grad=requires_grad)


def inputs(make, shape, generator=False, **options):
    # The same device as all other tensors, in the way that a caller would write it.
    options["device"] = make.full(1, value=0.0).device.type
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if generator:
        seed = int(make.integers(1, low=0, high=2**31))
        options["generator"] = torch.Generator(device=options["device"]).manual_seed(seed)
    return list(shape), options


TASK = Task(
    name="rand",
    category="Random",
    signature="rand(*size, generator=None, dtype=None, device=None, requires_grad=False) -> Tensor",
    prompt=(
        "Return a tensor of random numbers, independent and evenly distributed in [0, 1). `size` is its shape, one "
        "integer a dimension; `dtype` is torch.float32 (None means the same) or torch.float64, `device` the device of "
        "the result, always given; with requires_grad=True the result requires a gradient. Where a torch `generator` "
        "is given the numbers depend on its state alone, for example through a seed drawn from it; without one they "
        "differ from call to call. Any good generator will do: range, mean, variance, distribution, independence of "
        "neighbours and repetitions are checked, and not the numbers. 1 itself must not occur."
    ),
    formula=r"y_i \sim U[0, 1)",
    reference=reference,
    inputs=inputs,
    comparator="uniform",
    oracle=False,
    correctness=[
        {"shape": [2, 3]},
        {"shape": [1]},
        {"shape": [2, 3], "generator": True},
        {"shape": [4, 5], "generator": True, "dtype": "float64"},
        {"shape": [3, 3], "generator": True, "requires_grad": True},
        {"shape": [128, 256], "generator": True},
        {"shape": [97, 131]},
        {"shape": [100_003], "dtype": "float64"},
        {"shape": [1_000_003], "generator": True},
    ],
    timing=[{"shape": [1 << p], "dtype": "float32"} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, dtype="float32": prod(shape) * ITEMSIZES[dtype],  # written only
    flops=lambda shape: (
        2 * prod(shape)
    ),  # an integer becomes a float and is scaled; its making is no arithmetic
)
