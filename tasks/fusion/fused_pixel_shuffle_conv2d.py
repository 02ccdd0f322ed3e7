"""A two-dimensional convolution whose channels become pixels."""

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.pixel_shuffle(out, upscale_factor)


TASK = Task(
    name="fused_pixel_shuffle_conv2d",
    category="Fusion",
    signature=(
        "fused_pixel_shuffle_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
        "upscale_factor=2) -> Tensor"
    ),
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, kH, kW), plus `bias` "
        "(O) unless it is None, all float32, with zeros outside the input; `stride`, `padding` and `dilation` are a "
        "number or a pair (vertical, horizontal), and channels are split into `groups` that do not mix. The result c "
        "(N, O, H', W') is rearranged with r = `upscale_factor`, where r * r divides O: out[n, k, h r + i, w r + j] = "
        "c[n, k r r + i r + j, h, w] for 0 <= i, j < r, of shape (N, O / (r r), r H', r W')."
    ),
    formula=r"y_{n,k,hr+i,wr+j} = (\mathrm{conv2d}(x, w) + b)_{n,kr^2+ir+j,h,w}",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [4, 3, 3, 3]},
        {"x": [1, 4, 8, 8], "w": [16, 4, 3, 3], "bias": True},
        {"x": [1, 4, 16, 16], "w": [16, 4, 3, 3], "stride": 2},
        {"x": [1, 4, 8, 8], "w": [16, 4, 3, 3], "padding": 1},
        {"x": [1, 4, 9, 7], "w": [18, 2, 3, 3], "bias": True, "dilation": 2, "groups": 2, "upscale_factor": 3},
        {"x": [2, 3, 16, 16], "w": [32, 3, 3, 3], "bias": True, "padding": 1, "upscale_factor": 2,
         "outliers": 1e-3},
        {"x": [2, 5, 13, 11], "w": [8, 5, 2, 4], "stride": [2, 1], "padding": [1, 2], "outliers": 1e-2},
        {"x": [4, 3, 256, 256], "w": [12, 3, 3, 3], "bias": True},
    ],
    timing=[
        {"x": [16, 3, 1 << p, 1 << p], "w": [12, 3, 3, 3], "bias": True, "stride": 1, "padding": 0,
         "dilation": 1, "groups": 1, "upscale_factor": 2}
        for p in range(4, 11)
    ],
    bytes_moved=conv2d.bytes_moved,  # the rearrangement keeps the number of elements
    flops=conv2d.flops,
)  # fmt: skip
