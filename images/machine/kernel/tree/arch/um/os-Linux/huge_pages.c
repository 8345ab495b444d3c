// SPDX-License-Identifier: GPL-2.0
/* Huge pages of the host: see kernel/huge_pages.c. */
#include <errno.h>
#include <sys/mman.h>
#include <huge_pages.h>

/* A C library older than Linux 6.1 does not know it. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

int os_collapse(void *start, unsigned long length)
{
	unsigned long at;

	/* The host takes a huge page's room without any page in it for a truncated file. */
	for (at = 0; at < length; at += HUGE_PAGE_OF_HOST)
		(void)*((volatile char *)start + at);

	return madvise(start, length, MADV_COLLAPSE) ? -errno : 0;
}
