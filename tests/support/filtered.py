"""A host whose kernel lacks something: system calls that answer ENOSYS in a process and all that it starts."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Callable, Sequence

LANDLOCK = (444, 445, 446)
SECCOMP = (317,)
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD_NUMBER, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2


def without(calls: Sequence[int]) -> Callable[[], None]:
    """Return what a new process does before its program begins (`preexec_fn`), so that these calls are not there."""
    steps = [(_LOAD_NUMBER, 0, 0, 0)]
    for call in calls:
        steps += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)

    def bind() -> None:
        # The code must live until then.
        _ = code
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_PR_SET_SECCOMP, _FILTER, program, 0, 0):
            raise OSError(ctypes.get_errno(), "no filter")

    return bind
