/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a module of several files sees of time. Each of its files is compiled with this header first.
 *
 * Such code was written for real processors, on which time passes while a task computes. Here the clock is virtual: it
 * stands still until every task waits. So a loop that looks at a clock until it has moved would never end.
 *
 *   get_cycles()	is the virtual time in nanoseconds. (On UML it is always 0.)
 *   schedule()		of a task that is still runnable, as in a loop that polls, waits for OWN_MODULE_POLL_US of
 *			virtual time. A task that was put to sleep before, as in wait_event(), sleeps as ever.
 */
#ifndef _LINUX_OWN_MODULE_H
#define _LINUX_OWN_MODULE_H

#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <linux/wait.h>

#define OWN_MODULE_POLL_US 1

static inline void own_module_schedule(void)
{
	if (READ_ONCE(current->__state) == TASK_RUNNING)
		usleep_range(OWN_MODULE_POLL_US, OWN_MODULE_POLL_US);
	else
		schedule();
}

#define schedule() own_module_schedule()

#undef get_cycles
#define get_cycles() ((cycles_t)ktime_get_ns())

#endif
