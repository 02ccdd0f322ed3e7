# outcome: limit_exceeded
# says: processes and threads
# needs: cgroup
import threading
import time

import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    threading.stack_size(1 << 16)
    while True:
        threading.Thread(target=time.sleep, args=(1_000_000,), daemon=True).start()
