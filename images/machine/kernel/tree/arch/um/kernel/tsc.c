// SPDX-License-Identifier: GPL-2.0
/*
 * The time stamp counter of programs: virtual time, a tick a nanosecond.
 *
 * The host's counter would tell a program how fast the host is: what it prints, and
 * does, would be another thing in each run. Host processes are told not to read it
 * (PR_SET_TSC, os-Linux/skas/process.c), so that the instruction is a fault, and it
 * is a reading of the clock here, with what that costs who does nothing else.
 * /proc/cpuinfo has the rate.
 */
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <tsc.h>

/* Intel's manual, volume 2B: 0F 31 and 0F 01 F9. */
static const u8 rdtsc[] = { 0x0f, 0x31 };
static const u8 rdtscp[] = { 0x0f, 0x01, 0xf9 };

/* How long the instruction at `ip` is, if it is one of them; else 0. */
static unsigned int length_of(unsigned long ip)
{
	u8 code[sizeof(rdtscp)];
	/* The shorter one may end a page behind which there is none. */
	unsigned long left = copy_from_user(code, (void __user *)ip, sizeof(code));

	if (left <= sizeof(code) - sizeof(rdtsc) && !memcmp(code, rdtsc, sizeof(rdtsc)))
		return sizeof(rdtsc);
	if (!left && !memcmp(code, rdtscp, sizeof(rdtscp)))
		return sizeof(rdtscp);
	return 0;
}

bool tsc_was_read(struct uml_pt_regs *regs)
{
	unsigned int length;
	u64 now;

	length = length_of(UPT_IP(regs));
	if (!length)
		return false;
	now = ktime_get_ns();
	regs->gp[HOST_AX] = lower_32_bits(now);
	regs->gp[HOST_DX] = upper_32_bits(now);
	if (length == sizeof(rdtscp))
		regs->gp[HOST_CX] = 0;
	UPT_IP(regs) += length;
	return true;
}
