"""Images and volumes sampled at given positions."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task, Tolerance


def reference(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return torch.nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners)


def inputs(make, shape, size, reach=1.3, outliers=0.0, **options):
    if options.get("mode") == "nearest":
        grid = _near_pixels(make, shape, size, options.get("align_corners", False))
    else:
        grid = make.uniform(shape[0], *size, len(size), low=-reach, high=reach)
    return [make.normal(*shape, outliers=outliers), grid], options


def _near_pixels(make, shape, size, align_corners):
    """Positions within 0.3 of a pixel's centre, in and around the image: rounding cannot choose the neighbour."""
    axes = []
    for extent in reversed(shape[2:]):  # the grid names x first, then y and z
        pixel = make.integers(shape[0], *size, low=-2, high=extent + 2)
        place = pixel + make.uniform(shape[0], *size, low=-0.3, high=0.3)
        axes.append(2 * place / (extent - 1) - 1 if align_corners else (2 * place + 1) / extent - 1)
    return torch.stack(axes, -1)


def flops(shape, size, mode="bilinear"):
    """Three for a coordinate, a product for each further factor of a weight, a product and a sum a neighbour."""
    dims = len(size)
    neighbours = 1 if mode == "nearest" else 2**dims
    return shape[0] * prod(size) * (3 * dims + neighbours * (dims - 1) + 2 * neighbours * shape[1])


TASK = Task(
    name="grid_sample",
    category="SpatialOps",
    signature="grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False) -> Tensor",
    prompt=(
        "Sample `input`, float32 (N, C, H, W), at the positions of `grid`, float32 (N, R, S, 2): out[n, c, i, j] is "
        "image n, channel c, seen at (x, y) = grid[n, i, j], where x goes along W and y along H, and -1 and 1 are the "
        "edges. The column is ((x + 1) W - 1) / 2, or with align_corners=True (x + 1) (W - 1) / 2; the row likewise. "
        "Volumes: input (N, C, D, H, W), grid (N, Q, R, S, 3) with (x, y, z), and z along D. `mode`: 'bilinear' "
        "weights the four neighbours (eight in a volume), 'nearest' takes the nearest one. `padding_mode`: 'zeros' "
        "counts neighbours outside as zero; 'border' clamps coordinates to [0, W - 1]; 'reflection' mirrors them at "
        "-0.5 and W - 0.5, or with align_corners=True at 0 and W - 1, as often as it takes to be inside, then clamps "
        "them. Positions may lie outside [-1, 1]. The result is (N, C, R, S) or (N, C, Q, R, S)."
    ),
    formula=r"y_{ncij} = \mathrm{sample}(x_{nc},\; g_{nij})",
    reference=reference,
    inputs=inputs,
    # A coordinate in float32 is off by some 1e-5 of a pixel, and neighbouring pixels differ by a few units.
    tolerance=Tolerance(rtol=1e-5, atol=1e-4),
    correctness=[
        {"shape": [1, 3, 4, 4], "size": [2, 2]},
        {"shape": [1, 1, 2, 2], "size": [1, 1], "reach": 0.9},
        {"shape": [1, 3, 4, 4], "size": [5, 6], "mode": "nearest", "padding_mode": "border"},
        {"shape": [1, 3, 4, 4, 4], "size": [2, 2, 2], "padding_mode": "reflection"},
        {"shape": [1, 3, 5, 4, 6], "size": [3, 4, 5], "mode": "nearest", "align_corners": True},
        {"shape": [2, 3, 17, 23], "size": [19, 13], "padding_mode": "border"},
        {"shape": [2, 3, 17, 23], "size": [19, 13], "padding_mode": "reflection", "reach": 4.0},
        {"shape": [2, 3, 17, 23], "size": [19, 13], "padding_mode": "reflection", "align_corners": True},
        {"shape": [2, 3, 17, 23], "size": [19, 13], "mode": "nearest", "padding_mode": "reflection"},
        {"shape": [2, 3, 17, 23], "size": [19, 13], "mode": "nearest", "padding_mode": "zeros"},
        {"shape": [2, 2, 7, 5, 9], "size": [4, 6, 5], "padding_mode": "border", "align_corners": True},
        {"shape": [2, 3, 32, 32], "size": [16, 16], "align_corners": False, "outliers": 1e-3},
        {"shape": [2, 3, 33, 31], "size": [16, 17], "align_corners": True},
        {"shape": [2, 3, 256, 256], "size": [200, 131]},
    ],
    timing=[
        {"shape": [16, 3, 1 << p, 1 << p], "size": [1 << (p - 1)] * 2, "reach": 1.0} for p in range(8, 12)
    ],
    bytes_moved=lambda shape, size, itemsize: (
        (prod(shape) + shape[0] * prod(size) * (len(size) + shape[1])) * itemsize
    ),
    flops=flops,
)
