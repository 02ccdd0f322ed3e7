"""An image seen through an affine map of its coordinates."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task, Tolerance

IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
TURNED = [[1.1, -0.3, 0.1], [0.3, 1.1, -0.1]]
"""A rotation, a scaling and a shift; some of the result lies outside the image."""


def reference(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    grid = torch.nn.functional.affine_grid(theta.to(input.dtype), size, align_corners=align_corners)
    return torch.nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners)


def inputs(make, shape, size, theta=None, outliers=0.0, **options):
    maps = make.values([TURNED if theta is None else theta] * shape[0])
    if theta is None:
        maps += make.normal(shape[0], 2, 3, std=0.05)
    return [make.normal(*shape, outliers=outliers), maps, torch.Size([*shape[:2], *size])], options


def bytes_moved(shape, size, itemsize):
    """Image, six coefficients an image, result."""
    return (prod(shape) + 6 * shape[0] + shape[0] * shape[1] * prod(size)) * itemsize


def flops(shape, size, mode="bilinear"):
    """Eight for a position, twelve for four weights, and a product and a sum for each of the neighbours."""
    neighbours = {"nearest": 1, "bilinear": 4, "bicubic": 16}[mode]
    return shape[0] * prod(size) * (20 + 2 * neighbours * shape[1])


TASK = Task(
    name="grid_sample_with_affine",
    category="SpatialOps",
    signature=(
        "grid_sample_with_affine(input, theta, size, mode='bilinear', padding_mode='zeros', align_corners=False) "
        "-> Tensor"
    ),
    prompt=(
        "Sample `input`, float32 (N, C, H, W), through an affine map. `theta` is float32 (N, 2, 3); `size` is the "
        "size (N, C, R, S) of the result as a torch.Size. Output pixel (i, j) "
        "has the coordinates x = (2 j + 1) / S - 1 and y = (2 i + 1) / R - 1, or with align_corners=True "
        "x = 2 j / (S - 1) - 1 and y = 2 i / (R - 1) - 1. It looks at (u, v) = theta[n] @ (x, y, 1), which is column "
        "((u + 1) W - 1) / 2 and row ((v + 1) H - 1) / 2 of the input, or with align_corners=True (u + 1) (W - 1) / 2 "
        "and (v + 1) (H - 1) / 2. `mode`: 'bilinear' weights the four neighbours, 'nearest' takes the nearest pixel "
        "(halves to the even one), 'bicubic' the 16 neighbours with the cubic convolution kernel, A = -0.75. "
        "`padding_mode` for neighbours outside: 'zeros' counts them as zero; 'border' clamps coordinates to the image; "
        "'reflection' mirrors them at its edges (at -0.5 and W - 0.5, with align_corners=True at 0 and W - 1) until "
        "they are inside. All images of a batch have their own theta."
    ),
    formula=r"y_{ncij} = \mathrm{sample}(x_{nc},\; \Theta_n\,(x_j, y_i, 1)^\top)",
    reference=reference,
    inputs=inputs,
    # A coordinate in float32 is off by some 1e-5 of a pixel, and neighbouring pixels differ by a few units.
    tolerance=Tolerance(rtol=1e-5, atol=1e-4),
    correctness=[
        {"shape": [1, 1, 4, 4], "size": [4, 4], "theta": IDENTITY},
        {"shape": [1, 3, 64, 64], "size": [64, 64], "theta": IDENTITY},
        {"shape": [1, 3, 64, 64], "size": [64, 64], "theta": IDENTITY, "mode": "nearest"},
        {"shape": [1, 3, 64, 64], "size": [64, 64], "theta": IDENTITY, "padding_mode": "reflection"},
        {"shape": [1, 3, 64, 64], "size": [64, 64], "theta": IDENTITY, "align_corners": True},
        {"shape": [1, 3, 17, 23], "size": [19, 13]},
        {"shape": [1, 3, 17, 23], "size": [19, 13], "padding_mode": "border"},
        {"shape": [1, 3, 17, 23], "size": [19, 13], "padding_mode": "reflection"},
        {"shape": [1, 3, 17, 23], "size": [19, 13], "align_corners": True, "padding_mode": "reflection"},
        {"shape": [2, 3, 32, 32], "size": [64, 64], "outliers": 1e-2},
        {"shape": [1, 2, 16, 16], "size": [16, 16], "mode": "nearest", "theta": [[0, -1, 0.05], [1, 0, 0.1]]},
        {"shape": [1, 3, 256, 256], "size": [256, 256]},
        {"shape": [1, 3, 17, 23], "size": [19, 13], "mode": "bicubic"},
    ],
    timing=[{"shape": [1, 3, 256, 256], "size": [1 << p, 1 << p]} for p in range(5, 11)],
    bytes_moved=bytes_moved,
    flops=flops,
)
