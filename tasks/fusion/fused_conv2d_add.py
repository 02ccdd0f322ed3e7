"""A two-dimensional convolution to whose result a scaled tensor or number is added."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return out if other is None else torch.add(out, other, alpha=alpha)


def inputs(make, x, w, bias=False, other=None, alpha=None, outliers=0.0, **options):
    tensors, keywords = conv2d.inputs(make, x, w, outliers=outliers, **options)
    if bias:
        keywords["bias"] = make.normal(w[0])
    if other == "tensor":
        geometry = {name: options[name] for name in ("stride", "padding", "dilation") if name in options}
        other = make.normal(*conv2d.output_shape(x, w, **geometry))
    if other is not None:
        keywords["other"] = other
    if alpha is not None:
        keywords["alpha"] = alpha
    return tensors, keywords


def bytes_moved(x, w, itemsize, bias=False, other=None, stride=1, padding=0, dilation=1):
    """Those of the convolution, and the tensor that is added."""
    added = prod(conv2d.output_shape(x, w, stride, padding, dilation)) if other == "tensor" else 0
    return conv2d.bytes_moved(x, w, itemsize, bias, stride, padding, dilation) + added * itemsize


def flops(x, w, bias=False, other=None, stride=1, padding=0, dilation=1):
    """Those of the convolution, and a product and a sum for each element."""
    added = 0 if other is None else 2 * prod(conv2d.output_shape(x, w, stride, padding, dilation))
    return conv2d.flops(x, w, bias, stride, padding, dilation) + added


TASK = Task(
    name="fused_conv2d_add",
    category="Fusion",
    signature=(
        "fused_conv2d_add(input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1) "
        "-> Tensor"
    ),
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, kH, kW), plus `bias` "
        "(O) unless it is None, plus alpha * other unless `other` is None: a tensor of the result's shape, or a Python "
        "number. `alpha` is a Python number. Elements outside the input count as zero. `stride`, `padding` and "
        "`dilation` are a number or a pair (vertical, horizontal); `padding` may also be 'valid' or 'same'. The result "
        "(N, O, H', W') has the input's dtype and H' = floor((H + 2 pH - dH (kH - 1) - 1) / sH) + 1."
    ),
    formula=r"y = \mathrm{conv2d}(x, w) + b + \alpha z",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3]},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "bias": True},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "other": 2.0},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "other": "tensor"},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "other": "tensor", "alpha": 0.5},
        {"x": [1, 4, 6, 6], "w": [2, 2, 3, 3], "dilation": 2, "groups": 2, "other": 0.5, "alpha": 3},
        {
            "x": [2, 3, 32, 32],
            "w": [8, 3, 3, 3],
            "bias": True,
            "other": "tensor",
            "padding": 1,
            "alpha": -0.5,
        },
        {
            "x": [2, 5, 13, 11],
            "w": [7, 5, 2, 4],
            "bias": True,
            "other": "tensor",
            "stride": [2, 1],
            "padding": [1, 2],
        },
        {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "other": "tensor", "padding": "same", "outliers": 1e-2},
        {"x": [16, 32, 32, 32], "w": [32, 32, 3, 3], "other": "tensor", "padding": 1},
    ],
    # The largest published size, 1024, does not fit the footprint that is timed.
    timing=[
        {
            "x": [16, 32, 1 << p, 1 << p],
            "w": [32, 32, 3, 3],
            "other": "tensor",
            "stride": 1,
            "padding": 1,
            "groups": 1,
        }
        for p in range(5, 10)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
