"""Where arrays lie."""
import numpy as np


def place(array, index):
    """A copy at an address of its own modulo 4096, so that no store waits for a load of another array."""
    memory = np.empty(array.nbytes + 8192, np.uint8)
    start = -memory.ctypes.data % 4096 + 320 * index % 4096
    out = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out
