"""Powers of a base with evenly spaced exponents."""

from tasks.lazy import torch
from tasks.spec import ITEMSIZES, Task, Tolerance


def reference(start, end, steps, base=10.0, dtype=None, device=None):
    return torch.logspace(start, end, steps, base=base, dtype=dtype, device=device)


def inputs(make, start, end, steps, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    # The same device as all other tensors, in the way that a caller would write it.
    return [start, end, steps], {**options, "device": make.full(1, value=0.0).device.type}


TASK = Task(
    name="logspace",
    category="Random",
    signature="logspace(start, end, steps, base=10.0, dtype=None, device=None) -> Tensor",
    prompt=(
        "Return a one-dimensional tensor of `steps` values base ** (start + i * (end - start) / (steps - 1)) for "
        "i = 0 … steps - 1, both ends included; one step gives base ** start. `start`, `end` and `base` are Python "
        "numbers, `dtype` a torch dtype (float32 if None; the exponents are computed in it), `device` the device of "
        "the result, always given."
    ),
    formula=r"y_i = b^{\,s + i\,(e - s)/(n - 1)}",
    reference=reference,
    inputs=inputs,
    oracle=False,
    # Exponents of 33 binary digits in float32: eager and kernel are each off by up to 5e-6.
    tolerance=Tolerance(rtol=2e-5, atol=1e-5),
    correctness=[
        {"start": 1, "end": 3, "steps": 5},
        {"start": 0, "end": 4, "steps": 5, "base": 2.0},
        {"start": 1, "end": 2, "steps": 4, "dtype": "float64"},
        {"start": 1, "end": 3, "steps": 3},
        {"start": 2.5, "end": 7, "steps": 1},
        {"start": -3.0, "end": 3.0, "steps": 1023},
        {"start": 5.0, "end": -1.0, "steps": 4097, "base": 3.0},
        {"start": 0.0, "end": 10.0, "steps": 100_003},
    ],
    timing=[{"start": 0.0, "end": 10.0, "steps": 1 << p, "dtype": None} for p in range(12, 28)],
    bytes_moved=lambda steps, itemsize, dtype=None: steps * ITEMSIZES[dtype or "float32"],  # written only
    flops=lambda steps: 3 * steps,  # product and sum for the exponent, one for the power
)
