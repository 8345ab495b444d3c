// SPDX-License-Identifier: GPL-2.0
/*
 * The host's ticks in a live machine. In inf-cpu mode no signal of a timer comes:
 * a program that computes without a system call would keep the machine for ever.
 * A tick only looks, and stops who was in user mode all the time since the last.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <live_ticks.h>

bool live_watches;
volatile unsigned int live_ticks;
volatile int live_user_pid;
volatile unsigned long long live_entries;

static void tick(int signal)
{
	static unsigned long long last;
	int pid = live_user_pid;

	live_ticks++;
	/* ptrace() stops it; the signal itself goes no further. */
	if (pid && live_entries == last)
		kill(pid, SIGALRM);
	last = live_entries;
}

int os_start_ticks(int signal, void (*tick)(int), long nanoseconds, void **timer)
{
	struct sigaction action = {
		.sa_handler = tick,
		.sa_flags = SA_RESTART | SA_ONSTACK,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = signal,
	};

	if (sigaction(signal, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, timer) < 0)
		return -errno;
	return os_set_ticks(*timer, nanoseconds);
}

int os_set_ticks(void *timer, long nanoseconds)
{
	struct itimerspec often = {
		.it_value.tv_nsec = nanoseconds,
		.it_interval.tv_nsec = nanoseconds,
	};

	return timer_settime(timer, 0, &often, NULL) < 0 ? -errno : 0;
}

int os_live_ticks(void)
{
	void *timer;

	return os_start_ticks(SIGUSR2, tick, LIVE_TICK_NS, &timer);
}
