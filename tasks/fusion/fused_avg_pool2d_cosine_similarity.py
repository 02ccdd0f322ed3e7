"""Cosine similarity over the channels of two images, average-pooled."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8):
    similarity = torch.nn.functional.cosine_similarity(x1, x2, dim=1, eps=eps)
    return torch.nn.functional.avg_pool2d(similarity.unsqueeze(1), kernel_size, stride, padding)


def inputs(make, shape, blank=False, outliers=0.0, **options):
    x1, x2 = make.normal(*shape, outliers=outliers), make.normal(*shape)
    x2 += x1  # related, so that the similarities are not all near zero
    if blank:
        x1 *= make.boolean(shape[0], 1, *shape[2:])
    return [x1, x2], options


def _output(shape, kernel_size, stride, padding):
    rows, columns = ((size + 2 * padding - kernel_size) // (stride or kernel_size) + 1 for size in shape[2:])
    return shape[0] * rows * columns


TASK = Task(
    name="fused_avg_pool2d_cosine_similarity",
    category="Fusion",
    signature=(
        "fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8) -> Tensor"
    ),
    prompt=(
        "`x1` and `x2` are float32 (N, C, H, W). First the cosine similarity over the channels at every pixel: the sum "
        "of x1 * x2, divided by max(‖x1‖, eps) * max(‖x2‖, eps) in the 2-norm, so that a pixel of zeros gives 0. Then "
        "average pooling of that image, (N, 1, H, W), with square windows of `kernel_size` that are `stride` apart "
        "(None: kernel_size) after `padding` zeros on each side, at most half the window; these zeros count in the "
        "average: divide by kernel_size ** 2 always. The result is (N, 1, H', W') with H' = floor((H + 2 padding - "
        "kernel_size) / stride) + 1."
    ),
    formula=r"y = \mathrm{avgpool}(\cos(x_1, x_2))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [1, 3, 8, 8], "kernel_size": 2},
        {"shape": [1, 1, 1, 1], "kernel_size": 1},
        {"shape": [1, 3, 8, 8], "kernel_size": 2, "stride": 1},
        {"shape": [1, 3, 8, 8], "kernel_size": 2, "padding": 1},
        {"shape": [1, 3, 8, 8], "kernel_size": 2, "eps": 1e-6, "blank": True},
        {"shape": [2, 5, 13, 11], "kernel_size": 3, "stride": 2, "padding": 1},
        {"shape": [4, 16, 32, 32], "kernel_size": 2, "stride": 2, "outliers": 1e-2},
        {"shape": [3, 100, 17, 23], "kernel_size": 5, "stride": 3, "padding": 2, "outliers": 1e-3},
        {"shape": [2, 64, 129, 127], "kernel_size": 3, "stride": 2, "padding": 1},
    ],
    # The largest published size, 1024, does not fit the footprint that is timed.
    timing=[
        {"shape": [16, 64, 1 << p, 1 << p], "kernel_size": 3, "stride": 2, "padding": 1, "eps": 1e-8}
        for p in range(4, 10)
    ],
    bytes_moved=lambda shape, kernel_size, itemsize, stride=None, padding=0: (
        (2 * prod(shape) + _output(shape, kernel_size, stride, padding)) * itemsize
    ),
    # two norms and a product, two operations an element each; a sum for each pixel of a window
    flops=lambda shape, kernel_size, stride=None, padding=0: (
        6 * prod(shape) + _output(shape, kernel_size, stride, padding) * kernel_size**2
    ),
)
