"""Elements gathered along a dimension, some of them replaced by one value."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, index, mask, value, *, sparse_grad=False):
    return torch.gather(input, dim, index, sparse_grad=sparse_grad).masked_fill(mask, value)


def inputs(make, shape, index, dim, value, mask=None, integers=False, outliers=0.0, **options):
    if integers:
        input = make.integers(*shape, low=-100, high=100)
    else:
        input = make.normal(*shape, outliers=outliers)
    places = make.integers(*index, low=0, high=shape[dim])
    return [input, dim, places, make.boolean(*(mask or index)), value], options


TASK = Task(
    name="fused_gather_masked_fill",
    category="Fusion",
    signature="fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False) -> Tensor",
    prompt=(
        "Gather elements of `input`, float32 or int64, along dimension `dim`, and replace those where `mask` is True "
        "by `value`, a number that is cast to the input's dtype. `index` is int64 with as many dimensions as input: "
        "element (…, i, …) of the result is input[…, index[…, i, …], …], where the index stands at position `dim` and "
        "all others are those of the element itself. In the other dimensions index may be smaller than input. Indices "
        "may repeat. `mask` is boolean and broadcasts to the shape of index, which is that of the result. "
        "`sparse_grad` concerns gradients only and has no effect here."
    ),
    formula=r"y_{ij} = m_{ij}\ ?\ v : x_{k_{ij}\,j}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [2, 2], "dim": 1, "index": [2, 2], "value": -1.0, "integers": True},
        {"shape": [1, 1], "dim": 0, "index": [1, 1], "value": 0.5},
        {"shape": [2, 3], "dim": 1, "index": [2, 2], "value": 0.0, "integers": True},
        {"shape": [2, 2], "dim": 1, "index": [2, 2], "value": 99.0, "integers": True, "sparse_grad": True},
        {"shape": [7, 9], "dim": 0, "index": [13, 9], "value": 0.5},
        {"shape": [7, 9], "dim": 0, "index": [5, 6], "value": 0.5},
        {"shape": [6, 20], "dim": 1, "index": [6, 11], "mask": [6, 1], "value": 2.5},
        {"shape": [64, 128], "dim": 1, "index": [64, 32], "value": -1.0, "outliers": 1e-3},
        {"shape": [64, 128], "dim": 1, "index": [64, 32], "value": -1.0, "sparse_grad": True},
        {"shape": [3, 5, 7], "dim": 1, "index": [3, 4, 7], "value": 0.5},
        {"shape": [513, 1000], "dim": 0, "index": [513, 1000], "value": 0.5},
    ],
    timing=[{"shape": [1 << p, 1024], "dim": 0, "index": [1 << p, 1024], "value": 0.5} for p in range(5, 13)],
    # input and result, indices and mask
    bytes_moved=lambda shape, index, itemsize, mask=None: (
        (prod(shape) + prod(index)) * itemsize + 8 * prod(index) + prod(mask or index)
    ),
    flops=lambda: 0,  # nothing is computed
)
