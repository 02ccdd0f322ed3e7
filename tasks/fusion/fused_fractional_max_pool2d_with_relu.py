"""Fractional max pooling of the positive part: windows whose places are drawn."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    pool = torch.nn.functional.fractional_max_pool2d
    return pool(torch.relu(input), kernel_size, output_size, output_ratio, return_indices)


def inputs(make, shape, outliers=0.0, **options):
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return [make.normal(*shape, outliers=outliers), options.pop("kernel_size")], options


def invariants(call, outputs):
    """How far the values are from those of windows that a draw may choose: zero, whatever was drawn.

    A row of windows has two possible places, a column too; all windows of the row take the same one.
    """
    (input, kernel), _ = call
    values, indices = outputs if len(outputs) == 2 else (*outputs, None)
    positive = torch.relu(input)
    windows = torch.nn.functional.max_pool2d(positive, kernel, stride=1)
    rows, columns = (_places(values.shape[axis], windows.shape[axis], values.device) for axis in (-2, -1))
    distances = torch.stack(
        [
            torch.stack([(values - windows[..., row, :][..., column]).abs() for column in columns])
            for row in rows
        ]
    )
    found = {
        "distance from the windows of a row": distances.amin(1).amax(-1).amin(0),
        "distance from the windows of a column": distances.amin(0).amax(-2).amin(0),
    }
    if indices is not None:
        last = input.shape[-2] * input.shape[-1] - 1
        named = positive.flatten(-2).gather(-1, indices.clamp(0, last).flatten(-2)).view_as(values)
        found["distance from the element at an index"] = (values - named).abs() + (
            indices != indices.clamp(0, last)
        )
    return found


def _places(count, starts, device):
    """The two first rows (or columns) that each window may have: start i is i * (starts - 1) / (count - 1)."""
    if count == 1:
        return [torch.tensor([starts - 1], device=device)] * 2
    scaled = torch.arange(count, device=device) * (starts - 1)
    return [scaled // (count - 1), -(-scaled // (count - 1))]


def _output(shape, output_size, output_ratio):
    rows, columns = output_size or [
        int(size * share) for size, share in zip(shape[-2:], output_ratio, strict=True)
    ]
    return prod(shape[:-2]) * rows * columns


def bytes_moved(shape, itemsize, output_size=None, output_ratio=None, return_indices=False):
    """Input, values and indices."""
    return prod(shape) * itemsize + _output(shape, output_size, output_ratio) * (
        itemsize + 8 * return_indices
    )


def flops(shape, kernel_size, output_size=None, output_ratio=None):
    """A maximum for each element, and for each of a window."""
    window = kernel_size**2 if isinstance(kernel_size, int) else prod(kernel_size)
    return prod(shape) + _output(shape, output_size, output_ratio) * window


HALF = [0.5, 0.5]

TASK = Task(
    name="fused_fractional_max_pool2d_with_relu",
    category="Fusion",
    signature=(
        "fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size=None, output_ratio=None, "
        "return_indices=False) -> Tensor or (Tensor, Tensor)"
    ),
    prompt=(
        "Fractional max pooling of max(x, 0), where x is `input`, float32 (N, C, H, W). `kernel_size` is the size "
        "(kH, kW) of the windows, or one number; the result has `output_size` (R, S) rows and columns, or "
        "floor(H * output_ratio[0]) and floor(W * output_ratio[1]): exactly one of the two is given. For each image "
        "and channel draw u from [0, 1) for the rows: with a = (H - kH) / (R - 1), row i of the windows begins at "
        "floor((i + u) * a) - floor(u * a), and the last row of windows at H - kH. Columns likewise, with a draw of "
        "their own. Each output is the largest element of its window. With return_indices=True return a tuple of the "
        "values and, in int64, the places h * W + w of these elements in their image (any of them, where some are "
        "equal). The draws are free; with a = 2 they make no difference."
    ),
    formula=r"y_{ij} = \max_{p < k_H,\, q < k_W} \max(x_{r_i + p,\, s_j + q}, 0)",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    oracle=False,  # the reference draws: its float64 form would draw other windows
    correctness=[
        {"shape": [1, 1, 8, 8], "kernel_size": [2, 2], "output_size": [4, 4]},
        {"shape": [1, 1, 2, 2], "kernel_size": [2, 2], "output_size": [1, 1]},
        {"shape": [1, 1, 8, 8], "kernel_size": [2, 2], "output_ratio": HALF},
        {"shape": [1, 1, 8, 8], "kernel_size": [2, 2], "output_size": [4, 4], "return_indices": True},
        {"shape": [1, 1, 8, 8], "kernel_size": [3, 3], "output_size": [4, 4]},
        {"shape": [2, 3, 17, 23], "kernel_size": [3, 2], "output_size": [7, 11], "return_indices": True},
        {"shape": [2, 3, 16, 20], "kernel_size": 3, "output_ratio": [0.5, 0.75]},
        {"shape": [2, 8, 32, 32], "kernel_size": [2, 2], "output_ratio": HALF, "outliers": 1e-2},
        {"shape": [4, 3, 64, 100], "kernel_size": [3, 3], "output_ratio": HALF, "outliers": 1e-3},
        {"shape": [4, 3, 250, 250], "kernel_size": [3, 3], "output_ratio": HALF},
    ],
    timing=[
        {"shape": [16, 3, 1 << p, 1 << p], "kernel_size": [3, 3], "output_ratio": HALF} for p in range(4, 13)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
