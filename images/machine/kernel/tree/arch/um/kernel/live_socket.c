// SPDX-License-Identifier: GPL-2.0
/*
 * The socket between a live machine and its host: whole messages, one after another.
 *
 * Who reads slowly at the host's end makes the machine wait, and its time with
 * it: nothing is dropped.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <os.h>
#include "live.h"

/* The socket's descriptor in the host; -1: an ordinary machine. */
static int live_fd = -1;

static int __init live_setup(char *text)
{
	if (kstrtoint(text, 10, &live_fd) || live_fd < 0)
		panic("fabriclab.live=%s: expected the number of a descriptor\n",
		      text);
	return 0;
}
early_param("fabriclab.live", live_setup);

bool live_is_on(void)
{
	return live_fd >= 0;
}

/* How many bytes went through, of what the host said of a read or write. */
static size_t moved(int n)
{
	if (n <= 0 && n != -EINTR)
		panic("fabriclab.live: the host has gone (%d)\n", n);
	return max(n, 0);
}

static void write_host(const void *data, size_t length)
{
	const void *end = data + length;

	while (data < end)
		data += moved(os_write_file(live_fd, data, end - data));
}

void live_hear(void *data, size_t length)
{
	void *end = data + length;

	while (data < end)
		data += moved(os_read_file(live_fd, data, end - data));
}

/* Waits for a message until the wall clock's `until`; whether there is one. */
bool live_wait(u64 until)
{
	return os_poll_until(live_fd, until);
}

void live_answer(enum live_answer kind, u64 a, u64 b, const void *bytes, size_t length)
{
	struct live_header header = { .kind = kind, .length = length, .a = a, .b = b };

	write_host(&header, sizeof(header));
	write_host(bytes, length);
}

void live_tell(enum live_answer kind, u64 a, u64 b)
{
	live_answer(kind, a, b, NULL, 0);
}

/* Bytes that PID 1 wrote. */
void live_output(const void *bytes, size_t length)
{
	live_answer(LIVE_OUTPUT, 0, 0, bytes, length);
}
