"""Standard deviation of GELU."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=None, keepdim=False, correction=1, approximate="none"):
    activated = torch.nn.functional.gelu(input, approximate=approximate)
    return torch.std(activated, dim=dim, correction=correction, keepdim=keepdim)


def inputs(make, shape, mean=0.0, outliers=0.0, spread=False, **options):
    x = make.normal(*shape, mean=mean, outliers=outliers)
    if isinstance(options.get("dim"), list):
        options["dim"] = tuple(options["dim"])
    # A spread that the seed decides: the answer is no constant.
    return [x * make.uniform(1, low=0.5, high=2.0) if spread else x], options


def _outputs(shape, dim):
    if dim is None:
        return 1
    return prod(shape) // prod(shape[d] for d in (dim if isinstance(dim, list) else [dim]))


TASK = Task(
    name="fused_gelu_std",
    category="Fusion",
    signature="fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate='none') -> Tensor",
    prompt=(
        "Apply GELU to every element x of `input`, float32 of any shape, and return the standard deviation of the "
        "results g along dimension `dim` (a number, a tuple, or None for all elements): sqrt(sum((g - mean(g))**2) / "
        "(N - correction)), where N elements are reduced to one and N > correction. GELU is 0.5 * x * (1 + erf(x / "
        "sqrt(2))) with approximate='none', and 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) with "
        "approximate='tanh'. With keepdim=True reduced dimensions stay with size 1; otherwise they disappear."
    ),
    formula=r"\sigma = \mathrm{std}(\mathrm{GELU}(x))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [10]},
        {"shape": [2]},
        {"shape": [10, 20], "dim": 1},
        {"shape": [10, 20], "dim": 1, "keepdim": True},
        {"shape": [10], "approximate": "tanh"},
        {"shape": [10], "correction": 0},
        {"shape": [128, 256], "approximate": "tanh", "outliers": 1e-3},
        {"shape": [128, 256], "dim": 0, "approximate": "tanh", "outliers": 1e-3},
        {"shape": [129, 255], "dim": 1, "correction": 0, "mean": 3.0, "outliers": 1e-2},
        {"shape": [5, 7, 9], "dim": [0, 2]},
        {"shape": [1_000_003], "spread": True},
    ],
    timing=[{"shape": [1 << p], "spread": True} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, dim=None: (prod(shape) + _outputs(shape, dim)) * itemsize,
    flops=lambda shape: 9 * prod(shape),  # five for GELU; sum; difference, square, sum
)
