# outcome: crashed
# says: SIGSEGV
import ctypes

import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    ctypes.string_at(0)
