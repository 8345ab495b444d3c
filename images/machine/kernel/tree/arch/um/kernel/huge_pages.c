// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's memory in huge pages of the host.
 *
 * A large fabric works on hundreds of megabytes, here and there: with pages of
 * 4 KiB most accesses miss the host's TLB, and in a virtual host each miss is two
 * walks. A host makes shared memory of huge pages only if its administrator has
 * asked for it (shmem_enabled is `never` everywhere), but whoever asks for a range
 * by MADV_COLLAPSE gets them (Linux 6.1 and newer), without any right.
 *
 * They are asked for chunk by chunk, when the first page of one is allocated, for
 * the host has a huge page's memory as soon as it is there. Where there are none
 * the memory is as it was: nothing inside can tell.
 */
#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <as-layout.h>
#include <huge_pages.h>

extern unsigned long long physmem_size;

/* What the allocator has in one piece: a block of its highest order is in one chunk. */
#define CHUNK		(PAGE_SIZE << MAX_PAGE_ORDER)
#define CHUNK_PAGES	(CHUNK >> PAGE_SHIFT)
/* So often in a row the host may refuse before nobody asks again: each time it searches for a huge page. */
#define MOST_REFUSALS	4

/* Chunks that were asked for; NULL: nobody asks. */
static unsigned long *asked;
static unsigned int refusals;

static void ask(unsigned long chunk)
{
	unsigned long start = max(chunk * CHUNK, ALIGN(__pa(uml_reserved), HUGE_PAGE_OF_HOST));
	unsigned long end = min((chunk + 1) * CHUNK, ALIGN_DOWN(__pa(high_physmem), HUGE_PAGE_OF_HOST));

	__set_bit(chunk, asked);
	if (start >= end)
		return;
	refusals = os_collapse(__va(start), end - start) ? refusals + 1 : 0;
	if (refusals == MOST_REFUSALS)
		asked = NULL;
}

void arch_alloc_page(struct page *page, int order)
{
	unsigned long chunk = page_to_pfn(page) / CHUNK_PAGES;

	if (asked && !test_bit(chunk, asked))
		ask(chunk);
}

/* What was allocated before there was an allocator, the table of all pages first of all. */
static void __init ask_for_reserved(void)
{
	phys_addr_t start, end;
	u64 i;

	for_each_reserved_mem_range(i, &start, &end) {
		unsigned long chunk;

		for (chunk = start / CHUNK; asked && chunk * CHUNK < end; chunk++)
			if (!test_bit(chunk, asked))
				ask(chunk);
	}
}

/* Memory is mapped, and nothing is on the allocator's lists yet. */
void __init huge_pages_init(void)
{
	unsigned long chunks = DIV_ROUND_UP(physmem_size, CHUNK);

	/* The file's huge pages are where those of the address space are. */
	if (!IS_ALIGNED(uml_physmem, HUGE_PAGE_OF_HOST))
		return;
	asked = memblock_alloc(BITS_TO_LONGS(chunks) * sizeof(long), sizeof(long));
	if (asked)
		ask_for_reserved();
}
