"""Images resized."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task, Tolerance


def reference(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return torch.nn.functional.interpolate(
        input, size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners
    )


def inputs(make, shape, outliers=0.0, **options):
    if "size" in options:
        options["size"] = tuple(options["size"])
    return [make.normal(*shape, outliers=outliers)], options


def _elements(shape, size=None, scale_factor=None):
    sizes = size or [int(extent * scale_factor) for extent in shape[2:]]
    return prod(shape[:2]) * prod(sizes)


def flops(shape, size=None, scale_factor=None, mode="nearest"):
    """A product and a sum for each neighbour of an element of the result."""
    neighbours = {"nearest": 0, "bilinear": 4, "bicubic": 16}[mode]
    return 2 * neighbours * _elements(shape, size, scale_factor)


TASK = Task(
    name="interpolate",
    category="SpatialOps",
    signature="interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None) -> Tensor",
    prompt=(
        "Resize the images of `input`, float32 (N, C, H, W), to (N, C, R, S). Either `size` = (R, S) is given, or "
        "`scale_factor`, a number f with R = f H and S = f W, both whole. `mode`: 'nearest' takes row floor(i * H / R) "
        "for row i of the result, and columns likewise. 'bilinear' and 'bicubic' look at row (i + 0.5) * H / R - 0.5, "
        "or with align_corners=True at i * (H - 1) / (R - 1) (0 where R = 1); align_corners is else False or None. "
        "'bilinear' weights the two nearest rows and columns linearly, after coordinates below 0 are set to 0 and "
        "with the last row repeated. 'bicubic' weights four rows and columns with the cubic convolution kernel, "
        "A = -0.75; neighbours outside are taken from the edge, and the coordinates are not clamped."
    ),
    formula=r"y_{ij} = \mathrm{sample}(x,\; (i + 1/2) H / R - 1/2,\; (j + 1/2) W / S - 1/2)",
    reference=reference,
    inputs=inputs,
    # A coordinate in float32 is off by some 1e-5 of a pixel, and neighbouring pixels differ by a few units.
    tolerance=Tolerance(rtol=1e-5, atol=1e-4),
    correctness=[
        {"shape": [2, 3, 4, 4], "size": [8, 8], "mode": "nearest"},
        {"shape": [1, 1, 1, 1], "size": [2, 2], "mode": "bilinear", "align_corners": False},
        {"shape": [2, 3, 8, 8], "scale_factor": 2.0, "mode": "bilinear", "align_corners": False},
        {"shape": [2, 3, 8, 8], "size": [16, 16], "mode": "bicubic", "align_corners": False},
        {"shape": [2, 3, 5, 7], "scale_factor": 3.0, "mode": "nearest"},
        {"shape": [2, 3, 17, 11], "size": [7, 5], "mode": "nearest"},
        {"shape": [2, 3, 7, 11], "size": [17, 13], "mode": "bilinear", "align_corners": True},
        {"shape": [2, 3, 17, 13], "size": [7, 11], "mode": "bilinear", "align_corners": False},
        {"shape": [2, 3, 7, 11], "size": [17, 13], "mode": "bicubic", "align_corners": True},
        {"shape": [2, 3, 17, 13], "size": [7, 11], "mode": "bicubic", "align_corners": False},
        {"shape": [2, 2, 16, 8], "scale_factor": 0.5, "mode": "bilinear"},
        {"shape": [2, 3, 32, 32], "size": [64, 64], "mode": "bilinear", "outliers": 1e-2},
        {"shape": [2, 3, 33, 31], "size": [66, 62], "mode": "bicubic", "outliers": 1e-2},
    ],
    timing=[
        {
            "shape": [2, 3, 1 << p, 1 << p],
            "size": [2 << p, 2 << p],
            "mode": "bilinear",
            "align_corners": False,
        }
        for p in range(5, 9)
    ],
    bytes_moved=lambda shape, itemsize, size=None, scale_factor=None: (
        (prod(shape) + _elements(shape, size, scale_factor)) * itemsize
    ),
    flops=flops,
)
