import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    if TANH:
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        y = x * tl.sigmoid(2 * inner)  # 0.5 * (1 + tanh(z)) = sigmoid(2 z)
    else:
        y = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def gelu(input, approximate="none"):
    output = torch.empty_like(input)
    n = input.numel()
    block = 4096 if n > 4096 else 256
    gelu_kernel[(triton.cdiv(n, block),)](input, output, n, TANH=approximate == "tanh", BLOCK=block)
    return output
