"""RoCE's arithmetic: packets against the specification's words and zlib's CRC, DCQCN against exact fractions."""

from __future__ import annotations

import ctypes
import itertools
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import HEADERS, HERE
from hypothesis import given
from hypothesis import strategies as st
from user_space import compiled

WORD = 2**24
NOTIFY, SEND = range(2)
ONE = 2**32 - 1
"""Alpha = 1."""
ANNEX_A17 = bytes.fromhex(
    "4500003000004000401126bb0a0001010a000201d1b712b7001c0000" + "1140ffff0000000200000005" + "1f000001"
)
"""An acknowledgement as a packet from its IP header on: pair 2, number 5."""


@pytest.fixture(scope="module")
def roce(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ctypes.CDLL]:
    library = compiled(HERE / "roce_algorithms.c", tmp_path_factory.mktemp("roce"), f"-I{HEADERS}")
    library.whole_psn.restype = library.packets.restype = ctypes.c_uint64
    library.icrc.restype = library.opcode_at.restype = library.reth_bytes.restype = ctypes.c_uint32
    yield library


def u64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


@given(near=st.integers(0, 2**40), ahead=st.integers(-(2**23) + 1, 2**23 - 1))
def test_a_number_is_the_nearest_with_its_low_bits(roce: ctypes.CDLL, near: int, ahead: int) -> None:
    number = max(0, near + ahead)
    assert roce.whole_psn(u64(near), ctypes.c_uint32(number % WORD)) == number


@given(
    opcode=st.integers(0, 255),
    pad=st.integers(0, 3),
    asks=st.booleans(),
    pair=st.integers(0, WORD - 1),
    psn=st.integers(0, WORD - 1),
)
def test_a_base_header_has_the_specifications_twelve_bytes(
    roce: ctypes.CDLL, opcode: int, pad: int, *, asks: bool, pair: int, psn: int
) -> None:
    written = (ctypes.c_uint8 * 12)()
    roce.put_base(written, opcode, pad, int(asks), pair, psn)
    # Opcode; solicited, migrated, pad, version; partition; congestion bits; pair; request; number (9.2).
    assert bytes(written) == struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, pair, asks << 31 | psn)
    fields = (ctypes.c_uint32 * 5)()
    roce.get_base(written, fields)
    assert list(fields) == [opcode, pad, int(asks), pair, psn]


@given(address=st.integers(0, 2**64 - 1), size=st.integers(0, 2**31))
def test_a_reth_has_the_specifications_sixteen_bytes(roce: ctypes.CDLL, address: int, size: int) -> None:
    written = (ctypes.c_uint8 * 16)()
    roce.put_reth(written, u64(address), size)
    # Virtual address, key, length (9.3.3).
    assert bytes(written) == struct.pack(">QII", address, 0, size)
    assert roce.reth_bytes(written) == size


@given(syndrome=st.integers(0, 255), received=st.integers(0, 2**32 - 1))
def test_an_aeth_has_the_specifications_four_bytes(roce: ctypes.CDLL, syndrome: int, received: int) -> None:
    written = (ctypes.c_uint8 * 4)()
    roce.put_aeth(written, syndrome, ctypes.c_uint32(received))
    # Syndrome, number of messages (9.3.5).
    assert bytes(written) == struct.pack(">I", syndrome << 24 | received % WORD)


def test_extended_headers_stand_where_the_specification_has_them(roce: ctypes.CDLL) -> None:
    """Opcodes of a reliable connection (table 38 of 9.2.1), without those that have immediate data."""
    write, send, read = (6, 7, 8, 10), (0, 1, 2, 4), (13, 14, 15, 16)
    reth, aeth, response, data = 1, 2, 4, 8
    expected = dict.fromkeys(range(18), 0) | dict.fromkeys((*write, *send), data)
    expected |= {6: data | reth, 10: data | reth, 12: reth, 17: aeth}
    expected |= dict.fromkeys(read, response | aeth) | {14: response}
    assert {opcode: roce.parts_of(opcode) for opcode in range(18)} == expected


@pytest.mark.parametrize(("first", "only"), [(0, 4), (6, 10), (13, 16)])
def test_packets_of_a_message_say_where_they_stand(roce: ctypes.CDLL, first: int, only: int) -> None:
    assert roce.opcode_at(first, u64(0), u64(1)) == only
    assert [roce.opcode_at(first, u64(place), u64(2)) for place in range(2)] == [first, first + 2]
    assert [roce.opcode_at(first, u64(place), u64(4)) for place in range(4)] == [first, *[first + 1] * 2, first + 2]


@given(size=st.integers(0, 2**40), mtu=st.sampled_from([256, 512, 1024, 2048, 4096]))
def test_a_message_has_a_packet_at_least(roce: ctypes.CDLL, size: int, mtu: int) -> None:
    assert roce.packets(u64(size), mtu) == max(1, -(-size // mtu))


def masked(packet: bytes) -> bytes:
    """Annex A17.3.3: ones in place of what changes on the way."""
    ones = bytearray(packet)
    for place in (1, 8, 10, 11, 26, 27, 32):
        ones[place] = 0xFF
    return bytes([0xFF] * 8) + bytes(ones)


@given(headers=st.binary(min_size=40, max_size=60), zeros=st.integers(0, 5_000))
def test_the_invariant_crc_is_ethernets_over_the_masked_packet(roce: ctypes.CDLL, headers: bytes, zeros: int) -> None:
    raw = (ctypes.c_uint8 * len(headers)).from_buffer_copy(headers)
    assert roce.icrc(raw, len(headers), u64(zeros)) == zlib.crc32(masked(headers) + bytes(zeros))


def test_routers_may_write_what_they_write(roce: ctypes.CDLL) -> None:
    changed = bytearray(ANNEX_A17)
    changed[1], changed[8], changed[10], changed[32] = 0x03, 0x20, 0x99, 0x40
    sums = {
        roce.icrc((ctypes.c_uint8 * len(one)).from_buffer_copy(one), len(one), u64(0)) for one in (ANNEX_A17, changed)
    }
    assert len(sums) == 1


class Config(ctypes.Structure):
    """struct roce_dcqcn_config."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("least", "active", "hyper", "cycle_bytes", "cycle_ns", "alpha_ns", "gain", "recovery_cycles")
    ]


LINE = 40 * 10**9
PAPER = Config(40_000_000, 40_000_000, 200_000_000, 10_000_000, 55_000, 55_000, 2**24, 5)
"""Zhu et al. 2015, section 4 and figure 7: g = 1/256, timer 55 us, byte counter 10 MB, F = 5, R_AI = 40 Mbps."""


@dataclass(frozen=True)
class Step:
    kind: int
    time_ns: int
    bytes: int = 0


@dataclass(frozen=True)
class Seen:
    rate: int
    target: int
    alpha: int


def run(library: ctypes.CDLL, steps: Sequence[Step], config: Config = PAPER) -> list[Seen]:
    count = len(steps)
    seen = (ctypes.c_uint64 * (3 * count))()
    library.dcqcn_run(
        ctypes.byref(config),
        u64(LINE),
        count,
        (ctypes.c_uint32 * count)(*(step.kind for step in steps)),
        (ctypes.c_uint32 * count)(*(step.bytes for step in steps)),
        (ctypes.c_uint64 * count)(*(step.time_ns for step in steps)),
        seen,
    )
    return [Seen(*seen[3 * place : 3 * place + 3]) for place in range(count)]


class Paper:
    """The reaction point in exact fractions, by the paper's words."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.rate = self.target = Fraction(LINE)
        self.alpha = Fraction(1)
        self.gain = Fraction(int(config.gain), 2**32)
        self.bytes_sent = self.byte_cycles = self.timer_cycles = 0
        self.cycle_ns: int | None = None
        self.alpha_ns: int | None = None

    def notify(self, now: int) -> None:
        self.target = self.rate
        self.rate = max(self.rate * (1 - self.alpha / 2), Fraction(int(self.config.least)))
        self.alpha = (1 - self.gain) * self.alpha + self.gain
        self.bytes_sent = self.byte_cycles = self.timer_cycles = 0
        self.cycle_ns, self.alpha_ns = now + int(self.config.cycle_ns), now + int(self.config.alpha_ns)

    def increase(self) -> None:
        cycles = (self.byte_cycles, self.timer_cycles)
        if min(cycles) > self.config.recovery_cycles:
            self.target += int(self.config.hyper)
        elif max(cycles) >= self.config.recovery_cycles:
            self.target += int(self.config.active)
        self.target = min(self.target, Fraction(LINE))
        self.rate = (self.rate + self.target) / 2

    def advance(self, now: int) -> None:
        while self.alpha_ns is not None and self.cycle_ns is not None and min(self.alpha_ns, self.cycle_ns) <= now:
            if self.cycle_ns < self.alpha_ns:
                self.cycle_ns += int(self.config.cycle_ns)
                self.timer_cycles += 1
                self.increase()
            else:
                self.alpha_ns += int(self.config.alpha_ns)
                self.alpha *= 1 - self.gain

    def send(self, count: int) -> None:
        self.bytes_sent += count
        if self.cycle_ns is not None and self.bytes_sent >= self.config.cycle_bytes:
            self.bytes_sent -= int(self.config.cycle_bytes)
            self.byte_cycles += 1
            self.increase()


@given(
    gaps=st.lists(
        st.tuples(st.integers(0, 400_000), st.one_of(st.none(), st.integers(64, 4_200))), min_size=1, max_size=80
    ),
    cycle_bytes=st.integers(10_000, 200_000),
)
def test_a_rate_follows_the_papers_words(
    roce: ctypes.CDLL, gaps: list[tuple[int, int | None]], cycle_bytes: int
) -> None:
    config = Config.from_buffer_copy(PAPER)
    config.cycle_bytes = cycle_bytes
    times = itertools.accumulate((gap for gap, _ in gaps), initial=55_000)
    next(times)
    steps = [
        Step(NOTIFY, time) if size is None else Step(SEND, time, size)
        for time, (_, size) in zip(times, gaps, strict=True)
    ]
    exact = Paper(config)
    for step, seen in zip(steps, run(roce, steps, config), strict=True):
        exact.advance(step.time_ns)
        if step.kind == NOTIFY:
            exact.notify(step.time_ns)
        elif exact.rate < LINE - 1:
            exact.send(step.bytes)
        # Whole bits a second, halved and rounded up each cycle: a few of them are lost, or won, on the way.
        assert seen.rate == pytest.approx(float(exact.rate), rel=1e-6)
        assert seen.target == pytest.approx(float(exact.target), rel=1e-6)
        assert seen.alpha / ONE == pytest.approx(float(exact.alpha), rel=1e-5, abs=1e-6)


def test_five_cycles_of_recovery_then_additive_increase(roce: ctypes.CDLL) -> None:
    steps = [Step(NOTIFY, 1_000), *(Step(SEND, 1_000 + cycle * 55_000) for cycle in range(1, 9))]
    seen = run(roce, steps)
    assert seen[0] == Seen(LINE // 2 + 5, LINE, ONE)
    assert [one.target for one in seen] == [LINE] * 9, "the target was the line's rate"
    distances = [LINE - one.rate for one in seen]
    assert all(abs(later - earlier // 2) <= 1 for earlier, later in itertools.pairwise(distances))


def test_a_rate_that_is_the_lines_again_has_no_timer_left(roce: ctypes.CDLL) -> None:
    seen = run(roce, [Step(NOTIFY, 0), Step(SEND, 10**10)])
    assert seen[1] == Seen(LINE, LINE, seen[1].alpha)
    assert seen[1].alpha < 2**9, "alpha has decayed as far as its fraction goes"


@given(gaps=st.lists(st.integers(0, 120_000), min_size=1, max_size=100), interval=st.integers(0, 100_000))
def test_marks_are_told_once_in_the_interval(roce: ctypes.CDLL, gaps: list[int], interval: int) -> None:
    times = list(itertools.accumulate(gaps))
    told = (ctypes.c_uint8 * len(times))()
    roce.notifications(u64(interval), len(times), (ctypes.c_uint64 * len(times))(*times), told)
    expected, last = [], None
    for time in times:
        tells = last is None or time >= last + interval
        last = time if tells else last
        expected.append(tells)
    assert [bool(one) for one in told] == expected


def test_the_headers_need_nothing_of_the_kernel() -> None:
    for name in ("header.h", "dcqcn.h"):
        text = Path(HEADERS, "roce", name).read_text(encoding="utf-8")
        assert text.count("#include <linux") == text.count("#include <linux/crc32.h>")
