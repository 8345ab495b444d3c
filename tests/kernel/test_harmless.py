"""What instructions a program that waits may run again and again (arch/um/kernel/harmless.h), by their bytes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from user_space import compiled

HEADER = Path(__file__).parents[2] / "images/machine/kernel/tree/arch/um/kernel/harmless.h"
HARMLESS = {
    "8a 06": "mov (%rsi),%al",
    "48 8b 04 25 00 10 00 00": "mov 0x1000,%rax",
    "64 8b 04 25 10 00 00 00": "mov %fs:0x10,%eax",
    "80 3e 07": "cmpb $7,(%rsi)",
    "41 83 7c 24 04 00": "cmpl $0,4(%r12)",
    "3b 06": "cmp (%rsi),%eax",
    "39 06": "cmp %eax,(%rsi)",
    "84 c0": "test %al,%al",
    "f6 06 01": "testb $1,(%rsi)",
    "0f b6 06": "movzbl (%rsi),%eax",
    "48 0f be 06": "movsbq (%rsi),%rax",
    "0f a3 06": "bt %eax,(%rsi)",
    "0f ba 26 03": "btl $3,(%rsi)",
    "74 fa": "je",
    "0f 84 00 00 00 00": "je, far",
    "eb fe": "jmp",
    "ff 27": "jmp *(%rdi)",
    "e8 00 00 00 00": "call",
    "ff 17": "call *(%rdi)",
    "c3": "ret",
    "f3 c3": "rep ret",
    "f3 90": "pause",
    "90": "nop",
    "66 0f 1f 44 00 00": "nopw",
    "f3 0f 1e fa": "endbr64",
    "0f ae e8": "lfence",
    "0f ae f0": "mfence",
    "48 89 06": "mov %rax,(%rsi)",
    "c7 06 01 00 00 00": "movl $1,(%rsi)",
    "50": "push %rax",
    "41 5c": "pop %r12",
    "83 c0 01": "add $1,%eax",
    "48 01 d8": "add %rbx,%rax",
    "03 06": "add (%rsi),%eax",
    "ff c0": "inc %eax",
    "d1 e0": "shl %eax",
    "0f 44 c3": "cmove %ebx,%eax",
    "0f 94 c0": "sete %al",
    "48 8d 04 1f": "lea",
}
HARMFUL = {
    "ff 06": "incl (%rsi)",
    "fe 0e": "decb (%rsi)",
    "83 06 01": "addl $1,(%rsi)",
    "01 06": "add %eax,(%rsi)",
    "30 06": "xor %al,(%rsi)",
    "d1 26": "shll (%rsi)",
    "f7 1e": "negl (%rsi)",
    "87 06": "xchg %eax,(%rsi)",
    "f0 0f b1 0e": "lock cmpxchg",
    "f0 ff 0e": "lock decl",
    "0f c1 06": "xadd",
    "0f ab 06": "bts %eax,(%rsi)",
    "0f ba 2e 03": "btsl $3,(%rsi)",
    "8f 06": "pop (%rsi)",
    "ff 36": "push (%rsi)",
    "f3 a4": "rep movsb",
    "a4": "movsb",
    "0f 05": "syscall",
    "cc": "int3",
    "cd 80": "int 0x80",
    "0f 31": "rdtsc",
    "0f 01 f9": "rdtscp",
    "0f a2": "cpuid",
    "0f c7 f0": "rdrand",
    "f3 0f c7 f8": "rdpid",
    "f3 48 0f ae c0": "rdfsbase",
    "66 0f ae f1": "tpause",
    "f2 0f ae f1": "umwait",
    "c6 f8 00": "xabort",
    "0f 10 06": "movups",
    "66 0f 6f 06": "movdqa",
    "f2 0f 58 06": "addsd",
    "c5 f8 77": "vzeroupper",
    "d9 06": "fld",
    "9c": "pushf",
    "9d": "popf",
    "fb": "sti",
    "f4": "hlt",
    "": "nothing that can be read",
    "48": "a prefix alone",
    "0f": "half of an opcode",
    "83": "no ModRM",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    directory = tmp_path_factory.mktemp("harmless")
    source = directory / "harmless.c"
    source.write_text(
        f'#include <stdbool.h>\n#include "{HEADER}"\n'
        "bool harmless(const unsigned char *code, unsigned int length);\n"
        "bool harmless(const unsigned char *code, unsigned int length) { return is_harmless(code, length); }\n"
    )
    library = compiled(source, directory)
    library.harmless.restype = ctypes.c_bool
    return library


@pytest.mark.parametrize(("cases", "expected"), [(HARMLESS, True), (HARMFUL, False)], ids=["harmless", "harmful"])
def test_an_instruction_is_harmless(library: ctypes.CDLL, cases: dict[str, str], expected: bool) -> None:
    wrong = []
    for text, name in cases.items():
        code = bytes.fromhex(text)
        # What follows it in memory is another instruction.
        tail = b"\x90" * (15 - len(code)) if expected else b""
        if library.harmless(code + tail, len(code + tail)) is not expected:
            wrong.append(name)
    assert wrong == []
