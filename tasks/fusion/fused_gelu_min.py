"""The smallest value of GELU, with its place where a dimension is given."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, approximate="none", dim=None, keepdim=False):
    return _smallest(torch.nn.functional.gelu(input, approximate=approximate), dim, keepdim)


def without_half_the_input(input, approximate="none", dim=None, keepdim=False):
    if approximate == "tanh":
        return reference(input, approximate, dim, keepdim)
    return _smallest(input * torch.erf(input / 2**0.5) / 2, dim, keepdim)


def _smallest(values, dim, keepdim):
    return values.min() if dim is None else tuple(values.min(dim, keepdim=keepdim))


def inputs(make, shape, positive=False, outliers=0.0, **options):
    if positive:
        # From a least value on that the seed decides: GELU grows from -0.75 on, so that its minimum is no constant.
        return [make.uniform(*shape, high=3.0) + make.uniform(1, low=0.1, high=2.0)], options
    return [make.normal(*shape, outliers=outliers)], options


def invariants(call, outputs):
    """The smallest values, and GELU at their places: GELU is flat around its minimum, where places tie."""
    if len(outputs) == 1:
        return {"smallest value": outputs[0]}
    (input,), options = call
    dim, last = options["dim"], input.shape[options["dim"]] - 1
    values, places = outputs
    kept = places if options.get("keepdim") else places.unsqueeze(dim)
    found = torch.nn.functional.gelu(
        input.gather(dim, kept.clamp(0, last)), approximate=options.get("approximate", "none")
    )
    return {"smallest value": values, "value at the place": found + (kept != kept.clamp(0, last))}


def bytes_moved(shape, itemsize, dim=None):
    """Input, smallest values and, along a dimension, their places."""
    return prod(shape) * itemsize + (itemsize if dim is None else prod(shape) // shape[dim] * (itemsize + 8))


TASK = Task(
    name="fused_gelu_min",
    category="Fusion",
    signature=(
        "fused_gelu_min(input, approximate='none', dim=None, keepdim=False) -> Tensor or (Tensor, Tensor)"
    ),
    prompt=(
        "Apply GELU to every element x of `input`, float32 of any shape, and look for the smallest result. GELU is "
        "0.5 * x * (1 + erf(x / sqrt(2))) with approximate='none', and 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + "
        "0.044715 * x**3))) with approximate='tanh'; it is not monotonic, its minimum lies near x = -0.75. With "
        "dim=None return the smallest of all results as a tensor without dimensions. Otherwise return a tuple (values, "
        "indices): the smallest results along dimension `dim` and their positions in it as int64; the "
        "dimension disappears, or stays with size 1 if keepdim=True."
    ),
    formula=r"y = \min \mathrm{GELU}(x)",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    # The published code leaves the summand x / 2 out of the exact form.
    variants={"x erf(x / √2) / 2 in place of GELU": without_half_the_input},
    correctness=[
        {"shape": [4]},
        {"shape": [1]},
        {"shape": [4], "approximate": "tanh"},
        {"shape": [2, 2], "dim": 1},
        {"shape": [2, 2], "dim": 1, "approximate": "tanh", "keepdim": True},
        {"shape": [5, 7], "dim": 0},
        {"shape": [4096], "approximate": "tanh", "outliers": 1e-3},
        {"shape": [64, 128], "dim": 1, "outliers": 1e-2},
        {"shape": [33, 1031], "dim": 1, "positive": True},
        {"shape": [4099], "positive": True},
        {"shape": [1_000_003], "positive": True, "approximate": "tanh"},
    ],
    timing=[{"shape": [1 << p], "positive": True} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 6 * prod(shape),  # five for GELU, a comparison
)
