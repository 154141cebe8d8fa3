"""Settings of PyTorch for the small networks here; they belong to the whole process."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread and no denormal numbers, then what was used before."""
    threads = torch.get_num_threads()
    torch.set_flush_denormal(True)  # small gradients would slow everything down
    # The matrices are small: threads would wait for each other more than they help, and the order
    # of the sums would depend on their number.
    torch.set_num_threads(1)
    try:
        yield
    finally:
        # The process has other things to do.
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
