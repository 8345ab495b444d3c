// SPDX-License-Identifier: GPL-2.0
/*
 * Rings in memory that machines share: frames that go by a cable from one to another.
 *
 * A ring has one writer and one reader. Its writer waits where it is full, and reads its
 * own rings meanwhile, so that two which write to each other do not wait for ever.
 */
#include <linux/fabriclab_wires.h>
#include <linux/align.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <wires_user.h>
#include "wires.h"

/* So often a writer looks whether there is room before it lets the host run others. */
#define WIRES_LOOKS 2000
#define WIRES_NAP_NS 50000

static struct wires_ring *ring(unsigned int from, unsigned int to)
{
	size_t size = WIRES_RING_HEADER_BYTES + wires.ring_bytes;

	return wires.rings + (from * wires.count + to) * size;
}

static struct wires_frame *frame_at(struct wires_ring *ring, u64 position)
{
	return (void *)ring->bytes + (position & (wires.ring_bytes - 1));
}

static u32 frame_bytes(u32 length)
{
	return ALIGN(sizeof(struct wires_frame) + length, sizeof(u64) * 2);
}

/* How many bytes there are up to the ring's end. */
static u32 straight(u64 position)
{
	return wires.ring_bytes - (position & (wires.ring_bytes - 1));
}

static bool has_room(struct wires_ring *ring, u64 head, u32 bytes)
{
	return head + bytes - READ_ONCE(ring->tail) <= wires.ring_bytes;
}

/* Whether there is room now; false: the reader is gone. */
static bool wait_for_room(struct wires_ring *ring, unsigned int part, u64 head, u32 bytes)
{
	u32 nothing = 0;
	int looks = 0;

	while (!has_room(ring, head, bytes)) {
		if (READ_ONCE(wires.lines[part].gone))
			return false;
		wires_drain();
		wires_pause();
		if (++looks % WIRES_LOOKS == 0) {
			wires_wake();
			os_wires_sleep(&nothing, 0, WIRES_NAP_NS);
		}
	}
	return true;
}

void wires_send(unsigned int part, const struct wire_passage *passage, const void *bytes,
		u32 length)
{
	struct wires_ring *to = ring(wires.index, part);
	u32 size = frame_bytes(length), left;
	struct wires_frame *frame;
	u64 head = to->head;

	left = straight(head);
	if (READ_ONCE(wires.lines[part].gone) ||
	    !wait_for_room(to, part, head, size > left ? size + left : size))
		return;
	if (size > left) {
		/* All sizes are multiples of what this takes: there is always room for it. */
		frame_at(to, head)->length = WIRES_SKIP;
		head += left;
	}
	frame = frame_at(to, head);
	frame->length = length;
	frame->passage = *passage;
	memcpy(frame->bytes, bytes, length);
	/* A frame is counted before it is there (wires.c, all_wait()). */
	WRITE_ONCE(wires.lines[wires.index].sent, wires.lines[wires.index].sent + 1);
	barrier();
	WRITE_ONCE(to->head, head + size);
}

static void drain(struct wires_ring *from)
{
	u64 head = READ_ONCE(from->head), tail = from->tail;

	barrier();
	while (tail != head) {
		struct wires_frame *frame = frame_at(from, tail);

		if (frame->length == WIRES_SKIP) {
			tail += straight(tail);
			continue;
		}
		wire_take(&frame->passage, frame->bytes, frame->length);
		wires.took++;
		tail += frame_bytes(frame->length);
	}
	barrier();
	WRITE_ONCE(from->tail, tail);
}

void wires_drain(void)
{
	unsigned int part;

	for (part = 0; part < wires.count; part++)
		if (part != wires.index)
			drain(ring(part, wires.index));
}
