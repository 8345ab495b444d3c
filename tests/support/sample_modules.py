"""A module of several files for tests: the congestion control of `sample_algorithms`, cut into two, with a header."""

from __future__ import annotations

from pathlib import Path

from sample_algorithms import registration

HEADER = """/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MINE_H
#define _MINE_H

#include <net/tcp.h>

void mine_avoid(struct sock *sk, u32 ack, u32 acked);

#endif
"""
AVOID = """// SPDX-License-Identifier: GPL-2.0
#include "mine.h"

static DEFINE_SPINLOCK(counted_lock);
static u64 counted;

/* Reno, and a counter that needs no lock here: interrupts are off and on again meanwhile. */
void mine_avoid(struct sock *sk, u32 ack, u32 acked)
{
	unsigned long flags;

	spin_lock_irqsave(&counted_lock, flags);
	counted += acked;
	spin_unlock_irqrestore(&counted_lock, flags);
	tcp_reno_cong_avoid(sk, ack, acked);
}
"""
REGISTER = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include "mine.h"

""" + registration("mine_avoid")
FILES = {"avoid.c": AVOID, "mine.h": HEADER, "register.c": REGISTER}
"""By name, in the order of their names."""


def write_module(directory: Path, **texts: str) -> Path:
    """Write the module's files, and what else is in the directory of one; `texts` replaces those of this stem."""
    directory.mkdir()
    for name, text in FILES.items():
        (directory / name).write_text(texts.get(Path(name).stem, text))
    (directory / "README.md").write_text("Not part of the module.\n")
    (directory / "test").mkdir()
    (directory / "test" / "main.c").write_text("#error not compiled\n")
    return directory
