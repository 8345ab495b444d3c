/* SPDX-License-Identifier: GPL-2.0 */
/* The machine's memory in huge pages of the host: kernel/huge_pages.c. */
#ifndef UM_HUGE_PAGES_H
#define UM_HUGE_PAGES_H

#define HUGE_PAGE_OF_HOST	(2UL << 20)

void huge_pages_init(void);
/* Makes a range of memory one of huge pages: 0, or an error of the host's. */
int os_collapse(void *start, unsigned long length);

#endif
