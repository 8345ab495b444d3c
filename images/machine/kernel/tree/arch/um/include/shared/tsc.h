/* SPDX-License-Identifier: GPL-2.0 */
/* The time stamp counter of programs (arch/um/kernel/tsc.c). */
#ifndef __UM_TSC_H
#define __UM_TSC_H

#include <sysdep/ptrace.h>

/* Whether a program's fault was a reading of the counter, which is done then. */
bool tsc_was_read(struct uml_pt_regs *regs);

#endif
