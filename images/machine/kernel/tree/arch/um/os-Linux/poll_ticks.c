// SPDX-License-Identifier: GPL-2.0
/*
 * The host's ticks in a machine that runs programs of a lab's own. In inf-cpu mode no
 * signal of a timer comes, so nobody takes the processor from a program that makes no
 * system call. A tick stops who was in user mode all the time since the last one.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <live_ticks.h>
#include <memory_polls.h>

/* Of wall time. Often: once it is known that programs of this machine wait in memory. */
#define TICK_NS		20000000L
#define OFTEN_NS	500000L

bool polls_are_watched;
volatile unsigned long long user_entries;
static void *timer;

static void tick(int signal)
{
	static unsigned long long last;
	int pid = live_user_pid;
	int save_errno = errno;

	if (pid && user_entries == last)
		kill(pid, SIGALRM);
	last = user_entries;
	errno = save_errno;
}

int os_poll_ticks(void)
{
	return os_start_ticks(SIGRTMIN, tick, TICK_NS, &timer);
}

void os_poll_ticks_often(void)
{
	static bool is_often;

	if (!is_often)
		os_set_ticks(timer, OFTEN_NS);
	is_often = true;
}
