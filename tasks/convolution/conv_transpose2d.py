"""Two-dimensional transposed convolution of NCHW tensors."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return torch.nn.functional.conv_transpose2d(
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def inputs(make, x, w, bias=False, outliers=0.0, **options):
    tensors = [make.normal(*x, outliers=outliers), make.normal(*w)]
    if bias:
        tensors.append(make.normal(w[1] * options.get("groups", 1)))
    return tensors, options


def output_shape(x, w, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Shape of the result: (size - 1) s - 2 p + d (k - 1) + o + 1 in each direction."""
    sizes = (
        (x[axis] - 1) * stride - 2 * padding + dilation * (w[axis] - 1) + output_padding + 1
        for axis in (2, 3)
    )
    return [x[0], w[1] * groups, *sizes]


def bytes_moved(x, w, itemsize, bias=False, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Input, weight, bias and output, once each."""
    out = output_shape(x, w, stride, padding, output_padding, groups, dilation)
    return (prod(x) + prod(w) + bias * out[1] + prod(out)) * itemsize


def flops(x, w, bias=False, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """A product and a sum for each input element and weight that it meets, and the bias."""
    out = output_shape(x, w, stride, padding, output_padding, groups, dilation)
    return 2 * prod(x) * prod(w[1:]) + bias * prod(out)


TASK = Task(
    name="conv_transpose2d",
    category="Convolution",
    signature=(
        "conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) "
        "-> Tensor"
    ),
    prompt=(
        "Two-dimensional transposed convolution. `input` is (N, C, H, W), `weight` (C, O / groups, kH, kW), `bias` (O) "
        "or None; all float32. Every input element spreads over the result: out[n, o, i * stride + p * dilation - "
        "padding, j * stride + q * dilation - padding] is the sum of input[n, c, i, j] * weight[c, o', p, q] over all "
        "c, i, j, p, q that lead there, plus bias[o]; what falls outside the result is dropped. Channels are split "
        "into `groups` that do not mix: c runs over the input channels of o's group, and o' is o's place in it. The "
        "result has (H - 1) * stride - 2 * padding + dilation * (kH - 1) + output_padding + 1 rows, and columns "
        "likewise. All options are numbers; `output_padding` is less than `stride` or `dilation`. Full float32 "
        "precision is needed: TF32 is not accurate enough."
    ),
    formula=r"y_{n,o,\,i s + p d - \pi,\,j s + q d - \pi} \mathrel{+}= x_{ncij}\, w_{copq}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"x": [1, 1, 1, 1], "w": [1, 1, 1, 1]},
        {"x": [1, 4, 8, 8], "w": [4, 6, 3, 3]},
        {"x": [1, 4, 8, 8], "w": [4, 6, 3, 3], "bias": True, "stride": 2, "padding": 1, "output_padding": 1},
        {"x": [2, 4, 8, 8], "w": [4, 2, 3, 3], "groups": 2},
        {"x": [1, 2, 5, 7], "w": [2, 3, 3, 3], "dilation": 2},
        {"x": [2, 3, 5, 7], "w": [3, 5, 2, 4], "stride": 3, "padding": 1, "bias": True},
        {"x": [1, 2, 4, 5], "w": [2, 3, 3, 3], "stride": 1, "dilation": 2, "output_padding": 1, "padding": 2},
        {
            "x": [2, 8, 16, 16],
            "w": [8, 6, 3, 3],
            "stride": 2,
            "padding": 1,
            "output_padding": 1,
            "outliers": 1e-3,
        },
        {"x": [2, 6, 9, 11], "w": [6, 2, 3, 3], "groups": 3, "bias": True, "stride": 2, "dilation": 3},
        {"x": [2, 32, 16, 16], "w": [32, 64, 3, 3], "bias": True, "stride": 2, "padding": 1},
    ],
    timing=[
        {
            "x": [2, 1 << p, 16, 16],
            "w": [1 << p, 2 << p, 3, 3],
            "bias": True,
            "stride": 2,
            "padding": 1,
            "output_padding": 1,
        }
        for p in range(3, 9)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
