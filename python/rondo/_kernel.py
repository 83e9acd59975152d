# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from Python: C functions, by their address, and Python functions."""

from __future__ import annotations

import ctypes
import importlib
import warnings
from typing import Any, Optional

from ._rondo import Kernel


def address_of(function: Any) -> Optional[int]:
    """The address of a C function, given by ctypes, cffi or numba, or as a number; None for a Python function."""
    if isinstance(function, int) and not isinstance(function, bool):
        return function
    # The class of all function pointers of ctypes has no public name, which some versions of mypy know.
    if isinstance(function, getattr(ctypes, "_CFuncPtr")):
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    if type(function).__module__ == "_cffi_backend":
        backend: Any = importlib.import_module("_cffi_backend")
        return int(backend.cast(backend.new_primitive_type("uintptr_t"), function))
    address = getattr(function, "address", None)  # numba.cfunc
    return address if isinstance(address, int) else None


DECORATED: Any = object()  # stands for the function that kernel() is to decorate


def kernel(
    signature: str, function: Any = DECORATED, *, name: Optional[str] = None, core: str = "vector", quiet: bool = False
) -> Any:
    """Makes a kernel of a function; a decorator if `function` is left out.

    `signature` declares the kernel's arguments: tensors as ``x: in f32[n]`` (or ``out``, ``inout``), scalars as
    ``a: f32``, and ``b: block`` for the index of the running block. The extents of tensors must fit their symbols
    and expressions. Types are f32 f16 bf16 f64 c64 c128, i8 to i64, u8 to u64, bool, fp8e4m3fn, fp8e8m0, fp4e2m1.

    `function` is one of

    * a C function ``void (int64_t* args)``: a function of ctypes or cffi, a ``numba.cfunc`` of
      ``void(CPointer(int64))``, or its address. Its words are one for each name of the signature (the address of a
      tensor, the bits of a scalar, the index of the block with the number of blocks in the upper half), then the
      extents of the tensors in turn; a tensor of one extent has one word there, its number of elements.
    * a Python function, which takes arrays and numbers. It is for experiments: each call takes the GIL and some
      microseconds. Arrays are views of the device's memory and must not be kept. If the function raises, the round
      raises the same; the session is then poisoned and runs no further round.
    * None with a `name`: a kernel that exists only in the binary files of a device.

    `name`: the kernel's name, on a device the name in its binary; without it, the function's name. `quiet`: do not
    warn that a Python function is slow.

    >>> import numpy as np, rondo
    >>> @rondo.kernel("x: in f32[n], y: out f32[n]", quiet=True)
    ... def double(x, y):
    ...     np.add(x, x, out=y)
    >>> double
    <rondo.Kernel 'double' x: in f32[n], y: out f32[n]>
    >>> rondo.kernel("x: in f23[n]", double.function)
    Traceback (most recent call last):
    rondo.Error: the signature of kernel 'double': no such element type; there are f32 f16 bf16 f64 c64 c128 i8 to i64 u8 to u64 bool fp8e4m3fn fp8e8m0 fp4e2m1
      x: in f23[n]
            ^^^
    """

    def make(made_of: Any) -> Kernel:
        called = name or getattr(made_of, "__name__", None)
        if called is None:
            raise TypeError("rondo: the function has no name; pass name=…")
        address = address_of(made_of)
        made = Kernel(signature, made_of, called, core, address)
        if address is None and not quiet:
            warnings.warn(
                f"rondo: kernel '{called}' is a function of Python, which is slow: microseconds for each call, and the"
                " GIL; pass a function of C, a numba.cfunc, or quiet=True",
                RuntimeWarning,
                stacklevel=3 if function is not DECORATED else 2,
            )
        return made

    if function is DECORATED:
        return make
    return make(0 if function is None else function)

