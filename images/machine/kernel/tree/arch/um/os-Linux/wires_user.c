// SPDX-License-Identifier: GPL-2.0
#include <linux/futex.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wires_user.h>

void os_wires_sleep(unsigned int *word, unsigned int value, unsigned long ns)
{
	struct timespec timeout = { .tv_nsec = ns };

	/* However it ends, the caller looks again. */
	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

void os_wires_wake(unsigned int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
