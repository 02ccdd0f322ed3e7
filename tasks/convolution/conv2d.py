"""Two-dimensional convolution (cross-correlation) of NCHW tensors."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)


def inputs(make, x, w, bias=False, outliers=0.0, **options):
    tensors = [make.normal(*x, outliers=outliers), make.normal(*w)]
    if bias:
        tensors.append(make.normal(w[0]))
    return tensors, {
        name: tuple(value) if isinstance(value, list) else value for name, value in options.items()
    }


def output_shape(x, w, stride=1, padding=0, dilation=1):
    """Shape of the result: floor((size + 2 p - d (k - 1) - 1) / s) + 1 in each direction."""
    sizes = []
    for axis in (0, 1):
        step, spread = _along(stride, axis), _along(dilation, axis)
        covered = spread * (w[2 + axis] - 1)
        around = (
            {"same": covered, "valid": 0}.get(padding)
            if isinstance(padding, str)
            else 2 * _along(padding, axis)
        )
        sizes.append((x[2 + axis] + around - covered - 1) // step + 1)
    return [x[0], w[0], *sizes]


def _along(value, axis):
    return value if isinstance(value, int) else value[axis]


def bytes_moved(x, w, itemsize, bias=False, stride=1, padding=0, dilation=1):
    """Input, weight, bias and output, once each."""
    out = output_shape(x, w, stride, padding, dilation)
    return (prod(x) + prod(w) + bias * w[0] + prod(out)) * itemsize


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    """A product and a sum for each weight and output element, and the bias."""
    return prod(output_shape(x, w, stride, padding, dilation)) * (2 * prod(w[1:]) + bias)


TASK = Task(
    name="conv2d",
    category="Convolution",
    signature="conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor",
    prompt=(
        "Two-dimensional cross-correlation, as neural networks mean by convolution. `input` is (N, C, H, W), `weight` "
        "(O, C / groups, kH, kW), `bias` (O) or None; all floating point of one dtype, which the result has. "
        "out[n, o, i, j] = bias[o] + sum over c, p, q of weight[o, c, p, q] * input[n, g(o) + c, i * sH + p * dH - pH, "
        "j * sW + q * dW - pW], where elements outside the input count as zero and g(o) is the first channel of o's "
        "group. The result has floor((H + 2 pH - dH (kH - 1) - 1) / sH) + 1 rows, and columns likewise. `stride`, "
        "`padding` and `dilation` are a number or a pair (vertical, horizontal); `padding` may also be 'valid' (none) "
        "or 'same' (so much that the size stays, with stride 1). Channels are split into `groups` that do not mix."
    ),
    formula=r"y_{noij} = b_o + \sum_{cpq} w_{ocpq}\, x_{n,c,\,i s + p d - \pi,\,j s + q d - \pi}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3]},
        {"x": [1, 1, 1, 1], "w": [1, 1, 1, 1]},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "stride": 2},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "padding": 1},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "dilation": 2},
        {"x": [2, 3, 7, 9], "w": [5, 3, 3, 3], "bias": True, "padding": 1},
        {"x": [1, 4, 6, 6], "w": [6, 2, 3, 3], "groups": 2},
        {"x": [2, 3, 16, 16], "w": [4, 3, 3, 3], "stride": 2, "padding": 1, "outliers": 1e-2},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "bias": True, "stride": [2, 1], "padding": [1, 2]},
        {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "padding": "same"},
        {"x": [4, 32, 16, 16], "w": [64, 32, 3, 3], "bias": True},
        {"x": [16, 128, 16, 16], "w": [256, 128, 3, 3], "bias": True, "outliers": 1e-3},
    ],
    timing=[
        {"x": [n, 8 * n, 16, 16], "w": [16 * n, 8 * n, 3, 3], "bias": True, "stride": 1, "padding": 0}
        for n in (2, 4, 8, 16, 32, 64, 128)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
