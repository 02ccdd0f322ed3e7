"""GELU of int8 values, cut off to int8."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, approximate="none"):
    return torch.nn.functional.gelu(input.float(), approximate=approximate).to(torch.int8)


def rounded(input, approximate="none"):
    return torch.nn.functional.gelu(input.float(), approximate=approximate).round().to(torch.int8)


def inputs(make, shape, low=-20, high=20, values=None, **options):
    if values:
        return [make.values(values, dtype="int8").reshape(shape)], options
    x = make.integers(*shape, low=low, high=high, dtype="int8")
    if options.get("approximate") == "tanh":
        x[x == 5] = 4  # there the result is 4.9999998, and the order of operations decides what is cut off
    return [x], options


TASK = Task(
    name="gelu_int8",
    category="Activation",
    signature="gelu_int8(input, approximate='none') -> Tensor",
    prompt=(
        "Return, as int8, the Gaussian error linear unit of every element x of `input`, an int8 tensor of any shape "
        "with any values. There is no scale: x is taken as the real number that it is, GELU is computed in float32, "
        "and its fraction is cut off (toward zero). With approximate='none' GELU is 0.5 * x * (1 + erf(x / sqrt(2))), "
        "with approximate='tanh' it is 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))). So every x <= 1 gives "
        "0, those from 2 to 5 give x - 1, and those from 6 on give x, as float32 rounds there; with 'tanh' no element "
        "is 5."
    ),
    formula=r"y = \mathrm{trunc}(x\,\Phi(x))",
    reference=reference,
    inputs=inputs,
    dtype="int8",
    comparator="exact",
    oracle=False,
    # The published words do not say how a float becomes an int8; the published code cuts off.
    variants={"rounded to the nearest integer": rounded},
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3]},
        {"shape": [9], "values": [-128, -127, -1, 0, 1, 2, 6, 126, 127]},
        {"shape": [8], "values": [-128, -1, 0, 1, 2, 4, 6, 127], "approximate": "tanh"},
        {"shape": [4096], "low": -128, "high": 128},
        {"shape": [97, 131], "approximate": "tanh"},
        {"shape": [4099], "low": -128, "high": 128, "approximate": "tanh"},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "low": -10, "high": 10} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 5 * prod(shape),  # erf counts as one operation
)
