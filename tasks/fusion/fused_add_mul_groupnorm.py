"""Group normalisation of (input1 + input2) * input2."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input1, input2, weight, bias, num_groups, eps=1e-5):
    product = (input1 + input2) * input2
    return torch.nn.functional.group_norm(product, num_groups, weight, bias, eps)


def inputs(make, shape, groups, other=None, affine=True, outliers=0.0, **options):
    first, second = make.normal(*shape, outliers=outliers), make.normal(*(other or shape))
    weight, bias = (make.normal(shape[1]) if affine else None for _ in range(2))
    return [first, second, weight, bias, groups], options


TASK = Task(
    name="fused_add_mul_groupnorm",
    category="Fusion",
    signature="fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-5) -> Tensor",
    prompt=(
        "Compute m = (input1 + input2) * input2, elementwise, and return its group normalisation. `input1` is float32 "
        "(N, C, *), and `input2` broadcasts with it. The channels are split into `num_groups` groups of C / num_groups "
        "neighbours; for each sample and group, over its channels and all positions, the result is (m - mean) / "
        "sqrt(variance + eps) with the biased variance (divided by the number of elements), then times weight[c] plus "
        "bias[c] for channel c. `weight` and `bias` are (C), or both None for ones and zeros."
    ),
    formula=r"y = \mathrm{groupnorm}((x_1 + x_2)\,x_2)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 4, 4, 4], "groups": 2},
        {"shape": [1, 1, 1, 2], "groups": 1},
        {"shape": [2, 4, 4, 4], "groups": 2, "other": [1, 4, 1, 1]},
        {"shape": [2, 4, 4, 4], "groups": 1},
        {"shape": [2, 4, 4, 4], "groups": 2, "affine": False},
        {"shape": [2, 6, 5, 7], "groups": 3, "eps": 0.1},
        {"shape": [3, 6, 17, 13], "groups": 6, "outliers": 1e-3},
        {"shape": [4, 16, 32, 32], "groups": 4, "eps": 1e-5, "outliers": 1e-3},
        {"shape": [2, 8, 129, 255], "groups": 2},
    ],
    # The two largest published sizes do not fit the footprint that is timed.
    timing=[{"shape": [16, 64, 128, 1 << p], "groups": 8} for p in range(6, 12)],
    bytes_moved=lambda shape, itemsize, other=None, affine=True: (
        (2 * prod(shape) + prod(other or shape) + 2 * shape[1] * affine) * itemsize
    ),
    # sum, product; mean, three for the variance; difference, scaling, weight, bias
    flops=lambda shape: 10 * prod(shape),
)
