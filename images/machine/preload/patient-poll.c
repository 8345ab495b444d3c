// SPDX-License-Identifier: Apache-2.0
/*
 * Makes FRR's daemons wait for their timers instead of spinning towards them.
 *
 * FRR's event loop (lib/event.c, fd_poll) hands ppoll(2) the time to its next
 * timer in whole milliseconds, rounded down: through the last millisecond it
 * polls with a timeout of zero, over and over. On real hardware that costs a
 * little CPU. In virtual time the clock moves only by what its readers are
 * charged, so each timer costs thousands of system calls; zebra alone has a
 * hundred timers a second.
 *
 * Loaded before the C library (LD_PRELOAD). After a few polls in a row that
 * asked not to wait and found nothing, the next one waits a little: a timer
 * is late by at most that, a ready descriptor ends the wait at once.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The loop also polls without waiting while it has events to execute. */
#define EMPTY_POLLS	1
#define PATIENCE_NS	500000
/* Of the kernel's signal set, which is not the C library's. */
#define KERNEL_SIGSET_BYTES	8

static _Thread_local unsigned int empty_polls;

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec wait = { 0, 0 };
	int at_once, found;

	at_once = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	if (at_once && empty_polls >= EMPTY_POLLS)
		wait.tv_nsec = PATIENCE_NS;
	else if (timeout)
		wait = *timeout;
	/* The kernel writes the time that is left into its argument. */
	found = syscall(SYS_ppoll, fds, count, timeout ? &wait : NULL, mask,
			KERNEL_SIGSET_BYTES);
	empty_polls = at_once && !found ? empty_polls + 1 : 0;
	return found;
}
