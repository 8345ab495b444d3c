/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a program is noticed that waits in its own memory: between the loop that runs
 * programs (skas/process.c), the host's ticks (poll_ticks.c) and what is made of
 * them (memory_polls.c).
 */
#ifndef UM_MEMORY_POLLS_H
#define UM_MEMORY_POLLS_H

#include <sysdep/ptrace.h>

/* Whether anybody looks for such programs, and look_for_poll() is to be called. */
extern bool polls_are_watched;
/* How often a program has gone on in user mode. */
extern volatile unsigned long long user_entries;

int os_poll_ticks(void);
void os_poll_ticks_often(void);
int look_for_poll(struct uml_pt_regs *regs, void *siginfo);
/* Runs an instruction: 0, or the signal in whose place it has not been run to its end. */
int run_instruction(struct uml_pt_regs *regs, void *siginfo);

#endif
