# outcome: timed_out
# says: did not finish within
import time

import triton


@triton.jit
def kernel(x_ptr):
    pass


time.sleep(1_000_000)


def gelu(input, approximate="none"):
    return input
