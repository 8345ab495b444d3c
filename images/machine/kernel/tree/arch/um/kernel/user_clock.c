// SPDX-License-Identifier: GPL-2.0
/*
 * Readings of the clock without a system call.
 *
 * In inf-cpu mode time stands still while a program is in user mode, so what the
 * clock says when it goes on holds until it comes back: the vDSO reads it from memory.
 * A reading stays what it is as a system call: nothing as often as a task has them for
 * nothing (time_travel_is_free()), and counted as such. After that the vDSO makes the
 * call, which takes time, so that loops which wait for the clock end. Runs are the same
 * to the last bit either way.
 */
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/time-internal.h>
#include <linux/timekeeping.h>
#include <as-layout.h>
#include <user_clock.h>

int user_clock_lend(struct user_clock *clock)
{
	unsigned long flags;

	clock->left = time_travel_free_left();
	if (!clock->left)
		return 0;
	/* Where interrupts are off, the kernel reads the clock for nothing. */
	local_irq_save(flags);
	clock->monotonic_ns = ktime_get_ns();
	clock->real_ns = ktime_get_real_ns();
	local_irq_restore(flags);
	return clock->left;
}

void user_clock_settle(const struct user_clock *clock, int lent)
{
	/* The memory is the program's, too: whatever stands there now, it costs no less than nothing. */
	int left = clamp(READ_ONCE(clock->left), 0, lent);

	if (left < lent)
		time_travel_use_free(lent - left);
}

static int __init user_clock_init(void)
{
	BUG_ON(STUB_DATA != USER_STUB_DATA);
	return 0;
}
core_initcall(user_clock_init);
