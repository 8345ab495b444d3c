/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program reads the time from without a system call: between the vDSO
 * (arch/x86/um/vdso/um_vdso.c), the loop that runs programs (skas/process.c) and the
 * clock (arch/um/kernel/user_clock.c). It lies in the page that the program's host
 * process shares with the kernel.
 */
#ifndef UM_USER_CLOCK_H
#define UM_USER_CLOCK_H

/* STUB_DATA on x86-64, where os_get_top_address() is constant; user_clock.c makes sure. */
#define USER_STUB_DATA	0x7fc0000000UL

struct user_clock {
	/* So many readings are left to the program that runs; below 1 it asks the kernel. */
	int left;
	unsigned long long monotonic_ns;
	unsigned long long real_ns;
};

/* Before and after a program is in user mode; the first returns what it has lent. */
int user_clock_lend(struct user_clock *clock);
void user_clock_settle(const struct user_clock *clock, int lent);

#endif
