# outcome: call_failed
# says: Silent
# line: 20
import triton


@triton.jit
def kernel(x_ptr):
    pass


class Silent(Exception):
    def __str__(self):
        raise Silent

    __repr__ = __str__


def gelu(input, approximate="none"):
    raise Silent
