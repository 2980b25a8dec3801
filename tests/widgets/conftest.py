"""Real kernels and servers, as in the tests of the kernel's side."""

from __future__ import annotations

from tests.kernel.conftest import kernel, shared_kernel, start_kernel

__all__ = ["kernel", "shared_kernel", "start_kernel"]
