/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a live machine notices a program that stays in user mode: between the loop
 * that runs programs (skas/process.c), the host's ticks (live_ticks.c) and what is
 * made of them (live_busy.c).
 */
#ifndef UM_LIVE_TICKS_H
#define UM_LIVE_TICKS_H

/* How often the host ticks in a live machine, of wall time. */
#define LIVE_TICK_NS	100000000ULL

/* Whether this is a live machine, and live_user_mode() is to be called. */
extern bool live_watches;
/* Counted by the host while the machine runs. */
extern volatile unsigned int live_ticks;
/* The host process that is in user mode now, in any machine; 0: none is. */
extern volatile int live_user_pid;
/* How many times a program has gone on in user mode by itself. */
extern volatile unsigned long long live_entries;

struct task_struct;

/* All of them return 0, or an error of the host. `tick` is a handler of `signal`. */
int os_start_ticks(int signal, void (*tick)(int), long nanoseconds, void **timer);
int os_set_ticks(void *timer, long nanoseconds);
int os_live_ticks(void);
void live_fork(struct task_struct *child);
void live_user_mode(bool interrupted);
void live_system_call(void);
void live_resumed(void);

#endif
