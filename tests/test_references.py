"""The references against formulas that are written once more, in numpy: a fault in one of the two is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special

from evaluator.draws import FixedBinomial, FixedDropout
from tasks.registry import all_tasks
from tasks.spec import Task
from tests.test_tasks import call_of, copied, small_cases, tensors

torch.set_num_threads(1)

MOST_ELEMENTS = 20_000
"""Some of these formulas are loops."""


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def conv2d(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    pair = lambda value: (value, value) if isinstance(value, int) else value  # noqa: E731
    stride, dilation, reach = pair(stride), pair(dilation), [size - 1 for size in w.shape[2:]]
    if isinstance(padding, str):
        assert padding == "same"
        before = [d * r // 2 for d, r in zip(dilation, reach, strict=True)]
        after = [d * r - b for d, r, b in zip(dilation, reach, before, strict=True)]
    else:
        before = after = pair(padding)
    x = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)])
    rows, columns = (
        (size - d * r - 1) // s + 1
        for size, d, r, s in zip(x.shape[2:], dilation, reach, stride, strict=True)
    )
    out = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for o in range(w.shape[0]):
        first = o // (w.shape[0] // groups) * w.shape[1]
        for i in range(rows):
            for j in range(columns):
                top, left = i * stride[0], j * stride[1]
                seen = x[:, first : first + w.shape[1], top:, left:][:, :, :: dilation[0], :: dilation[1]]
                out[:, o, i, j] = (seen[:, :, : w.shape[2], : w.shape[3]] * w[o]).sum((1, 2, 3))
    return out if bias is None else out + bias[:, None, None]


def pooled(x, size):
    rows, columns = size if isinstance(size, tuple) else (size, size)
    height, width = x.shape[-2:]
    rows, columns = rows or height, columns or width

    def edges(i, count, length):
        return slice(i * length // count, -(-(i + 1) * length // count))

    out = np.zeros((*x.shape[:-2], rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[..., i, j] = x[..., edges(i, rows, height), edges(j, columns, width)].mean((-2, -1))
    return out


def sampled(x, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    (_, _, height, width), (_, _, rows, columns) = x.shape, size
    pixels = [np.arange(count) for count in (rows, columns)]
    if align_corners:
        v, u = (2 * p / (n - 1) - 1 for p, n in zip(pixels, (rows, columns), strict=True))
    else:
        v, u = ((2 * p + 1) / n - 1 for p, n in zip(pixels, (rows, columns), strict=True))
    grid = np.stack([*np.broadcast_arrays(u[None], v[:, None]), np.ones((rows, columns))])
    where = np.einsum("nkc,crs->nkrs", theta, grid)

    def position(coordinate, n):
        place = (coordinate + 1) * (n - 1) / 2 if align_corners else ((coordinate + 1) * n - 1) / 2
        if padding_mode == "reflection":
            low, span = (0, n - 1) if align_corners else (-0.5, n)
            place = low + span - np.abs((place - low) % (2 * span) - span)
        return place if padding_mode == "zeros" else place.clip(0, n - 1)

    out = np.zeros(size)
    for n in range(size[0]):
        across, down = position(where[n, 0], width), position(where[n, 1], height)
        if mode == "nearest":
            weights = [(np.rint(down), np.rint(across), 1.0)]
        else:
            top, left = np.floor(down), np.floor(across)
            weights = [
                (top + a, left + b, np.abs(1 - a - (down - top)) * np.abs(1 - b - (across - left)))
                for a in (0, 1)
                for b in (0, 1)
            ]
        for r, c, weight in weights:
            inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
            found = x[n][:, r.clip(0, height - 1).astype(int), c.clip(0, width - 1).astype(int)]
            out[n] += found * inside * weight
    return out


def reduced(losses, reduction, batch=None):
    return {
        "none": losses,
        "sum": losses.sum(),
        "mean": losses.mean(),
        "batchmean": losses.sum() / len(losses),
    }[reduction]


def smooth_l1(x, y, beta=1.0, reduction="mean"):
    d = np.abs(x - y)
    return reduced(np.where(d < beta, d * d / beta / 2, d - beta / 2), reduction)


def kl(x, t, reduction="batchmean", log_target=False):
    return reduced(np.exp(t) * (t - x) if log_target else special.xlogy(t, t) - t * x, reduction)


def nll(x, t, weight=None, ignore_index=-100, reduction="mean"):
    kept = t != ignore_index
    t = np.where(kept, t, 0)
    weights = (np.ones(x.shape[1]) if weight is None else weight)[t] * kept
    losses = -weights * x[np.arange(len(t)), t]
    return losses.sum() / weights.sum() if reduction == "mean" else reduced(losses, reduction)


def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def normed_relu_linear(x, w, b, shape, eps=1e-5):
    return layer_norm(np.maximum(x @ w.T + (0 if b is None else b), 0), eps)


def log_softmax_of_repeated(x, repeats, dim=None, dtype=None):
    x = np.repeat(x, repeats, axis=dim)
    return np.log(softmax(x, 0 if dim is None else dim))


def cosine(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    def norm(x, p, eps):
        return np.maximum((np.abs(x) ** p).sum(dim, keepdims=True) ** (1 / p), eps)

    u, v = (x / norm(x, p_norm, eps_norm) for x in (x1, x2))
    return (u / norm(u, 2, eps_similarity) * v / norm(v, 2, eps_similarity)).sum(dim)


def lion(p, g, m, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    moved = p * (1 - lr * weight_decay) - lr * np.sign(beta1 * m + (1 - beta1) * g)
    return moved, beta2 * m + (1 - beta2) * g


def sgd(p, g, b, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    g = g + weight_decay * p
    if momentum == 0:
        return p - lr * g, b
    b = momentum * b + (1 - dampening) * g
    return p - lr * (g + momentum * b if nesterov else b), b


def rmsprop(p, g, v, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    g = g + weight_decay * p
    v = alpha * v + (1 - alpha) * g**2
    return p - lr * g / (np.sqrt(v) + eps), v


def adamw(p, g, m, v, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    first, second = m / (1 - beta1**step), v / (1 - beta2**step)
    return p - lr * weight_decay * p - lr * first / (np.sqrt(second) + eps), m, v


def adam(p, gradients, parts=1, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
    m = v = 0 * p
    for step, g in enumerate(gradients, start=1):
        options = dict(zip(("beta1", "beta2"), betas, strict=True), lr=lr, eps=eps)
        p, m, v = adamw(p, g + weight_decay * p, m, v, step, weight_decay=0, **options)
    return p, p


def batch_norm(x, mean, var, w=None, b=None, training=False, momentum=0.1, eps=1e-5):
    def along(values):
        return values.reshape(1, -1, *[1] * (x.ndim - 2))

    axes = (0, *range(2, x.ndim))
    used, spread = (x.mean(axes), x.var(axes)) if training else (mean, var)
    out = (x - along(used)) / np.sqrt(along(spread) + eps)
    out = out if w is None else out * along(w) + along(b)
    if training:
        mean = mean + momentum * (used - mean)
        var = var + momentum * (x.var(axes, ddof=1) - var)
    return out, mean, var


def filled(dim, x, index, value):
    x = x.copy()
    np.moveaxis(x, dim, 0)[index] = value
    return x, x


def truncated(A, k, full_matrices=True):
    U, S, Vh = np.linalg.svd(A, full_matrices=False)
    return np.einsum("...mk,...k,...kn->...mn", U[..., :k], S[..., :k], Vh[..., :k, :])


def updated_dot(A, x, y, alpha, beta):
    y = alpha * (A @ x) + beta * y
    return y @ x, y


def divided(x, y, rounding_mode=None):
    return {None: lambda q: q, "trunc": np.trunc, "floor": np.floor}[rounding_mode](x / y)


def transformed(x, s=None, dim=None, norm=None):
    return np.fft.fftn(x, s, dim or tuple(range(-len(s or x.shape), 0)), norm)


def cholesky_solved(B, L, upper=False):
    factor = L.swapaxes(-1, -2) if upper else L
    return np.linalg.inv(factor @ factor.swapaxes(-1, -2)) @ B


def block(x, w1, w2, residual, dropout_p, eps=1e-5):
    return layer_norm(softmax(x @ w1, -1) @ w2 + residual, eps)


def attention(q, k, v, causal=False, softmax_scale=None):
    scores = q @ k.swapaxes(-1, -2) * (softmax_scale or 1 / np.sqrt(q.shape[-1]))
    if causal:
        scores += np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    return softmax(scores, -1) @ v


def added_group_norm(x, y, w, b, groups, eps=1e-5):
    m = ((x + y) * y).reshape(x.shape[0], groups, -1)
    out = layer_norm(m, eps).reshape(x.shape)
    along = (1, -1, *[1] * (x.ndim - 2))
    return out if w is None else out * w.reshape(along) + b.reshape(along)


def averaged(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Along the last dimension, window by window."""
    stride, end, out = stride or kernel_size, x.shape[-1] + padding, []
    count = (end + padding - kernel_size) / stride
    for window in range(int(np.ceil(count) if ceil_mode else count) + 1):
        start = window * stride - padding
        if start >= x.shape[-1]:
            continue
        seen = x[..., max(start, 0) : start + kernel_size]
        count = min(start + kernel_size, end) - start if count_include_pad else seen.shape[-1]
        out.append(seen.sum(-1) / count)
    return np.stack(out, -1)


def averaged_cosine(x, y, kernel_size, stride=None, padding=0, eps=1e-8):
    norms = [np.maximum(np.sqrt((z**2).sum(1)), eps) for z in (x, y)]
    image = ((x * y).sum(1) / norms[0] / norms[1])[:, None]
    across = averaged(image, kernel_size, stride, padding).swapaxes(-1, -2)
    return averaged(across, kernel_size, stride, padding).swapaxes(-1, -2)


def activated_rms_norm(x, y, approximate="none", eps=1e-5):
    z = x @ y
    return gelu(z / np.sqrt((z**2).mean(-1, keepdims=True) + eps), approximate)


def cosine_embedding(x, y, target, margin=0, reduction="mean"):
    c = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    return reduced(np.where(target == 1, 1 - c, np.maximum(c - margin, 0)), reduction)


def cross_entropy(x, t, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    logs = np.log(softmax(x, 1))
    losses = nll(logs, t, weight, ignore_index, reduction)
    if not label_smoothing:
        return losses
    assert weight is None and reduction == "mean"
    spread = -logs[t != ignore_index].mean()
    return (1 - label_smoothing) * losses + label_smoothing * spread


def looked_up(i, table, other, padding_idx=None, max_norm=None, norm_type=2.0):
    table = table.copy()
    for row in np.unique(i) if max_norm else ():
        norm = np.linalg.norm(table[row], norm_type)
        table[row] *= min(1, max_norm / norm)
    return np.tanh(table[i] + other), table


def gathered(x, dim, index, mask, value, sparse_grad=False):
    grid = list(np.indices(index.shape))
    grid[dim] = index
    return np.where(mask, x.dtype.type(value), x[tuple(grid)])


def smallest_gelu(x, approximate="none", dim=None, keepdim=False):
    g = gelu(x, approximate)
    return g.min() if dim is None else (g.min(dim, keepdims=keepdim), g.argmin(dim, keepdims=keepdim))


def hardsigmoid_batch_norm(x, mean, var, w=None, b=None, inplace=False, **options):
    out, mean, var = batch_norm(x, mean, var, w, b, **options)
    return np.clip(out / 6 + 0.5, 0, 1), mean, var


def linear(x, w, b=None):
    return x @ w.T + (0 if b is None else b)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def normed_relu_conv2d(x, w, b=None, p=0.0, training=True, inplace=False, **options):
    out = conv2d(x, w, b, **options)
    channels = out.swapaxes(0, 1)
    normed = layer_norm(channels.reshape(len(channels), -1)).reshape(channels.shape)
    return np.maximum(normed.swapaxes(0, 1), 0)


def unchanged(function):
    """For an operator that could change its first argument and was not asked to, or was."""

    def both(x, *arguments, inplace=False, **options):
        result = function(x, *arguments, **options)
        return result, result if inplace else x

    return both


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def normed_over(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def normed_selu_conv2d(*arguments, eps=1e-5, **options):
    return normed_over(selu(conv2d(*arguments, **options)), (2, 3), eps)


def leaky_conv2d(*arguments, negative_slope=0.01, inplace=False, **options):
    out = conv2d(*arguments, **options)
    return np.where(out > 0, out, negative_slope * out)


def distance(a, b, p=2.0, eps=1e-6, keepdim=False):
    return (np.abs(a - b + eps) ** p).sum(-1, keepdims=keepdim) ** (1 / p)


def distance_of_normalized(a, b, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    lengths = [np.maximum(distance(x, 0, p_norm, 0, True), eps_norm) for x in (a, b)]
    return distance(a / lengths[0], b / lengths[1], p_norm, eps_distance, keepdim)


def shuffled_conv2d(*arguments, upscale_factor=2, **options):
    r, c = upscale_factor, conv2d(*arguments, **options)
    out = np.zeros((c.shape[0], c.shape[1] // r**2, r * c.shape[2], r * c.shape[3]))
    for i in range(r):
        for j in range(r):
            out[:, :, i::r, j::r] = c[:, i * r + j :: r * r]
    return out


def relu_batch_norm_conv2d(*arguments, inplace=False, **options):
    out, mean, var = batch_norm(conv2d(*arguments[:7]), *arguments[7:], **options)
    return np.maximum(out, 0), mean, var


def max_pooled(x, size=2, step=None, padding=0, dilation=1, ceil=False):
    step, (height, width) = step or size, x.shape[2:]
    framed = np.full((*x.shape[:2], height + 2 * padding, width + 2 * padding), -np.inf)
    framed[:, :, padding : padding + height, padding : padding + width] = x

    def starts(length):
        reach = length + 2 * padding - dilation * (size - 1)
        return range(0, min(reach + step - 1, length + padding) if ceil else reach, step)

    def window(i, j):
        return framed[:, :, i : i + dilation * size : dilation, j : j + dilation * size : dilation].max(
            (2, 3)
        )

    rows = [np.stack([window(i, j) for j in starts(width)], -1) for i in starts(height)]
    return np.stack(rows, -2)


def relu_max_pool_conv2d(*arguments, inplace=False, **options):
    names = {"kernel_size": "size", "stride": "step", "ceil_mode": "ceil"}
    pooling = {names.get(k, k): v for name, v in options.items() if (k := name.removeprefix("pool_")) != name}
    convolution = {k: v for name, v in options.items() if (k := name.removeprefix("conv_")) != name}
    return np.maximum(max_pooled(conv2d(*arguments, **convolution), **pooling), 0)


def sigmoid_batch_norm(*arguments, **options):
    out, mean, var = batch_norm(*arguments, **options)
    return special.expit(out), mean, var


def silu_layer_norm_conv2d(x, weight, w, bias=None, ln_eps=1e-5, **options):
    out = conv2d(x, w, bias, **{name.removeprefix("conv_"): value for name, value in options.items()})
    out = normed_over(out, (1, 2, 3), ln_eps) * (1 if weight is None else weight[:, None, None])
    return out * special.expit(out)


def softplus_linear(x, w, b=0, beta=1, threshold=20):
    z = x @ w.T + b
    return np.where(beta * z > threshold, z, np.logaddexp(0, beta * z) / beta)


# Outputs, and after them what arguments are changed to.
FORMULAS: dict[str, Callable[..., Any]] = {
    "gelu": gelu,
    "gelu_bf16": gelu,
    "gelu_fp16": gelu,
    "relu": unchanged(lambda x: np.maximum(x, 0)),
    "leaky_relu": unchanged(lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x)),
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "conv2d": conv2d,
    "attention": attention,
    "fused_add_gelu": lambda x, y, alpha=1, approximate="none": gelu(x + alpha * y, approximate),
    "fused_add_mul_groupnorm": added_group_norm,
    "fused_avg_pool2d_cosine_similarity": averaged_cosine,
    "fused_bmm_dropout_gelu": lambda x, y, approximate="none", **options: gelu(x @ y, approximate),
    "fused_bmm_rmsnorm_gelu_dropout": (
        lambda x, y, normalized_shape, dropout_p=0.0, training=True, **options: activated_rms_norm(
            x, y, **options
        )
    ),
    "fused_bmm_rmsnorm_gelu_dropout_sub": (
        lambda x, y, other, shape, dropout_p=0.0, training=True, **options: (
            activated_rms_norm(x, y, **options) - other
        )
    ),
    "fused_cholesky_solve": lambda A, b: np.linalg.inv(A) @ b,
    "fused_cos_avg_pool1d": lambda x, *arguments, **options: averaged(np.cos(x), *arguments, **options),
    "fused_cosine_embedding_loss_with_normalization": cosine_embedding,
    "fused_cross_entropy_log_softmax": cross_entropy,
    "fused_cross_entropy_softmax_layernorm": lambda x, t, classes, eps=1e-5, **options: (
        cross_entropy(x, t, **options),
        layer_norm(softmax(x, 1), eps),
    ),
    "fused_dropout_relu_batch_norm_conv2d": normed_relu_conv2d,
    "fused_dropout_sigmoid_linear": lambda *arguments, **options: special.expit(linear(*arguments)),
    "fused_elu_linear": lambda *arguments, alpha=1.0, inplace=False: elu(linear(*arguments), alpha),
    "fused_embedding_add_tanh": looked_up,
    "fused_exp_mean": lambda x, dim=None, keepdim=False, dtype=None: np.exp(x).mean(dim, keepdims=keepdim),
    "fused_gather_masked_fill": gathered,
    "fused_gelu_conv2d": lambda *arguments, approximate="none", **options: gelu(
        conv2d(*arguments, **options), approximate
    ),
    "fused_gelu_min": smallest_gelu,
    "fused_gelu_std": lambda x, dim=None, keepdim=False, correction=1, approximate="none": gelu(
        x, approximate
    ).std(dim, ddof=correction, keepdims=keepdim),
    "fused_hardshrink_dropout": lambda x, p=0.0, training=True, lambd=0.5: x * (np.abs(x) > lambd),
    "fused_hardsigmoid_batch_norm": hardsigmoid_batch_norm,
    "fused_hstack_div": lambda tensors, divisor, rounding_mode=None: divided(
        np.concatenate(tensors, min(1, tensors[0].ndim - 1)), divisor, rounding_mode
    ),
    "fused_add_mean": lambda x, y, dim=None, alpha=1, keepdim=False, dtype=None: (x + alpha * y).mean(
        dim, keepdims=keepdim
    ),
    "fused_conv2d_add": lambda x, w, bias=None, other=None, alpha=1, **options: (
        conv2d(x, w, bias, **options) + (0 if other is None else alpha * other)
    ),
    "fused_cos_signbit": lambda x: (np.cos(x), np.cos(x) < 0),
    "fused_index_select_eq": lambda x, dim, index, other: np.take(x, index, dim) == other,
    "fused_layer_norm_relu_linear": normed_relu_linear,
    "fused_qr_solve": lambda A, b: np.linalg.lstsq(A, b, rcond=None)[0],
    "fused_relu_conv2d": lambda *arguments, inplace=False, **options: np.maximum(
        conv2d(*arguments, **options), 0
    ),
    "fused_relu_sqrt": unchanged(lambda x: np.sqrt(np.maximum(x, 0))),
    "fused_repeat_interleave_log_softmax": log_softmax_of_repeated,
    "fused_sum_std": lambda x, dim, correction=1, **options: x.sum(dim).std(ddof=correction),
    "fused_instance_norm_selu_conv2d": normed_selu_conv2d,
    "fused_leaky_relu_conv2d": leaky_conv2d,
    "fused_log_softmax_linear": lambda x, w, b=0, dim=-1, dtype=None: np.log(softmax(x @ w.T + b, dim)),
    "fused_log_tanh": lambda x: (x**2 - 1) / (x**2 + 1),
    "fused_lu_solve": lambda A, b: np.linalg.inv(A) @ b,
    "fused_masked_select_add_gelu": lambda x, mask, other, alpha=1, **options: gelu(
        x[mask] + alpha * other, **options
    ),
    "fused_mul_add_logsoftmax_dropout_bmm": lambda a, b, c, m, dim=-1, **dropout: (
        np.log(softmax(a * b + c, dim)) @ m
    ),
    "fused_mul_sub": lambda x, y, z, alpha=1: x * y - alpha * z,
    "fused_mv_logsoftmax_dropout": lambda A, v, **options: np.log(softmax(A @ v, 0)),
    "fused_mv_sigmoid_sub": lambda A, v, b, alpha=1: special.expit(A @ v) - alpha * b,
    "fused_pairwise_distance_adaptive_avg_pool2d": lambda a, b, size, **options: distance(
        pooled(a, size), pooled(b, size), **options
    ),
    "fused_pairwise_distance_normalize": distance_of_normalized,
    "fused_pixel_shuffle_conv2d": shuffled_conv2d,
    "fused_relu_batch_norm_conv2d": relu_batch_norm_conv2d,
    "fused_relu_max_pool2d_conv2d": relu_max_pool_conv2d,
    "fused_sigmoid_adaptive_avg_pool2d": lambda x, size: special.expit(pooled(x, size)),
    "fused_sigmoid_batch_norm": sigmoid_batch_norm,
    "fused_silu_layer_norm_conv2d": silu_layer_norm_conv2d,
    "fused_softmax_log": lambda x, dim=-1, dtype=None: x / x.sum(dim, keepdims=True),
    "fused_softplus_linear": softplus_linear,
    "fused_sub_gelu": lambda x, y, alpha=1, **options: gelu(x - alpha * y, **options),
    "fused_svd_reconstruct": lambda A: A,
    "fused_tanh_linear": lambda x, w, b=0: np.tanh(x @ w.T + b),
    "fused_tile_exp": lambda x, dims: np.exp(np.tile(x, dims)),
    "fused_transformer_block": block,
    "expand_where": lambda x, size, cond, other: np.where(cond, np.broadcast_to(x, size), other),
    "index_fill_": filled,
    "index_select": lambda x, dim, index: np.take(x, index, dim),
    "permute_copy": np.transpose,
    "cholesky_solve": cholesky_solved,
    "determinant_lu": lambda A, pivot=True: np.linalg.det(A),
    "invert_matrix_lu": lambda A, pivot=True: np.linalg.inv(A),
    "low_rank_svd_approximation": truncated,
    "pseudoinverse_svd": lambda A, full_matrices=True, rcond=1e-15: np.linalg.pinv(
        A, rcond=max(rcond, 1e-12)
    ),
    "solve": lambda A, b: np.linalg.inv(A) @ b,
    "kl_div": kl,
    "mse_loss": lambda x, y, reduction="mean": reduced((x - y) ** 2, reduction),
    "nll_loss": nll,
    "smooth_l1_loss": smooth_l1,
    "abs": np.abs,
    "add": lambda x, y, alpha=1: x + alpha * y,
    "cos": np.cos,
    "digamma": special.psi,
    "div": divided,
    "erf": special.erf,
    "erfc_sqrt": lambda x: (special.erfc(x), np.sqrt(x)),
    "exp_sqrt": lambda x: np.exp(x / 2),
    "fftn": transformed,
    "floor": np.floor,
    "i0": special.i0,
    "ifftshift": lambda x, dim=None: np.fft.ifftshift(x, dim),
    "log": np.log,
    "log1p": np.log1p,
    "logit": lambda x, eps=None: special.logit(x if eps is None else x.clip(eps, np.float32(1 - eps))),
    "mul": lambda x, y: x * y,
    "reciprocal": lambda x: 1 / x,
    "signbit": np.signbit,
    "softmax": lambda x, dim, dtype=None: softmax(x, dim),
    "sqrt_exp": lambda x: np.exp(np.sqrt(x)),
    "sqrt_tanh": lambda x: np.tanh(np.sqrt(x)),
    "sub": lambda x, y, alpha=1: x - alpha * y,
    "trunc": np.trunc,
    "matmul": np.matmul,
    "matmul_bf16": np.matmul,
    "matmul_fp16": np.matmul,
    "matrix_vector_dot": updated_dot,
    "batch_norm": batch_norm,
    "normalized_cosine_similarity": cosine,
    "AdamW": lambda *arguments, **options: adamw(*arguments, **options) * 2,
    "Adam": adam,
    "Lion": lambda *arguments, **options: lion(*arguments, **options) * 2,
    "RMSProp": lambda *arguments, **options: rmsprop(*arguments, **options) * 2,
    "SGD": lambda *arguments, **options: (
        sgd(*arguments, **options) * (2 if options.get("momentum") != 0 else 1)
    ),
    "adaptive_avg_pool2d": pooled,
    "attention_w8a8": attention,
    "bmm_w8a8": np.matmul,
    "conv2d_w8a8": conv2d,
    "layernorm_w8a8": lambda x, shape, w, b, eps: (
        layer_norm(x, eps) * (1 if w is None else w) + (0 if b is None else b)
    ),
    "linear_w4a16": lambda x, w, b: x @ w.T + (0 if b is None else b),
    "matmul_w8a8": np.matmul,
    "logspace": lambda a, b, steps, base=10.0, **options: np.logspace(a, b, steps, base=base),
    "argmax": lambda x, dim, keepdim=False: np.argmax(x, dim, keepdims=keepdim),
    "mean": lambda x, dim, keepdim=False, dtype=None: x.mean(dim, keepdims=keepdim),
    "min": lambda x, dim, keepdim=False: (x.min(dim, keepdims=keepdim), x.argmin(dim, keepdims=keepdim)),
    "std": lambda x, dim=None, correction=1, keepdim=False: x.std(dim, ddof=correction, keepdims=keepdim),
    "sum": lambda x, dim, keepdim=False, dtype=None: x.sum(dim, keepdims=keepdim),
    "grid_sample_with_affine": sampled,
    "airy_ai": lambda x: special.airy(x)[0],
    "asin": np.arcsin,
    "bessel_j1": special.j1,
    "bitwise_and": lambda x, y: x & y,
    "bitwise_and_binomial": lambda x, y, count, probs=None, logits=None: (  # its means
        (x & y) * (special.expit(logits) if probs is None else probs)
    ),
    "chebyshev_polynomial_t": lambda x, n: special.eval_chebyt(n, x),
    "gammaln": special.gammaln,
    "polygamma": special.polygamma,
    "pow": np.power,
    "rad2deg_sqrt": lambda x: (x / np.pi * 180, np.sqrt(x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "signbit_bitwise_and": lambda x, y: (np.signbit(x), x.astype(y.dtype) & y),
    "zeta": lambda x, q: np.where(x < 0, np.nan, special.zeta(np.abs(x), np.abs(q))),
    "selu": unchanged(selu),
    "combined_activation": lambda x, w, scale, shift: np.tanh(special.expit(x @ w)) * scale + shift,
    "gelu_int8": lambda x, approximate="none": np.where(x > 5, x, np.maximum(x, 1) - 1),
    "min_gelu": lambda x, dim=None, keepdim=False, approximate="none": smallest_gelu(
        x, approximate, dim, keepdim
    ),
}


def test_formulas_are_of_tasks_of_the_suite():
    assert set(FORMULAS) <= set(all_tasks())


@pytest.mark.parametrize("task", [pytest.param(all_tasks()[name], id=name) for name in FORMULAS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy tells of every division by zero
def test_the_reference_is_the_formula(task):
    compared = 0
    for case in small_cases(task):
        call = call_of(task, case)
        sizes = [tensor.numel() for tensor in tensors(call)]
        if max(sizes, default=0) > MOST_ELEMENTS or case.get("mode") == "bicubic":
            continue
        arguments, keywords = copied(call)
        with FixedDropout(keep=True) as dropout, FixedBinomial():
            result = task.reference(*arguments, **keywords)
        if dropout.p:
            continue  # the formulas leave dropout out
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        changed = [arguments[position] for position in task.mutates]
        expected = FORMULAS[task.name](*map(numpy, call[0]), **{k: numpy(v) for k, v in call[1].items()})
        expected = expected if isinstance(expected, tuple) else (expected,)
        for got, wanted in zip((*results, *changed), expected, strict=True):
            assert got.shape == np.shape(wanted), case
            np.testing.assert_allclose(numpy(got), wanted, **tolerance(task, got), err_msg=str(case))
        compared += 1
    assert compared >= 3


def test_singular_values_are_those_of_numpy():
    call = call_of(all_tasks()["svd"], {"shape": [13, 7]})
    values = all_tasks()["svd"].reference(*call[0])[1]
    np.testing.assert_allclose(values, np.linalg.svd(numpy(call[0][0]))[1], rtol=1e-5)


def test_bicubic_sampling_at_the_pixels_is_the_image():
    call = call_of(all_tasks()["grid_sample_with_affine"], {"shape": [1, 2, 5, 6], "size": [5, 6]})
    identity = torch.eye(2, 3)[None]
    image, _, size = call[0]
    result = all_tasks()["grid_sample_with_affine"].reference(image, identity, size, mode="bicubic")
    torch.testing.assert_close(result, image)


def numpy(value: Any) -> Any:
    if isinstance(value, list):
        return [numpy(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_floating_point():
        return value.double().numpy()
    return value.to(torch.complex128).numpy() if value.is_complex() else value.numpy()


def tolerance(task: Task, got: torch.Tensor) -> dict[str, float]:
    low = task.dtype in ("float16", "bfloat16") or got.dtype is torch.float16
    return {"rtol": 1e-2, "atol": 2e-2} if low else {"rtol": 1e-4, "atol": 1e-4}
