// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/fabriclab_wires, by which PID 1 takes part in what the machines of a lab agree on.
 *
 * It writes
 *   node STREAM   the current network namespace is a node's; what it draws is of this stream
 *   ended NS      this machine's traffic has ended, at that virtual time
 *   leave         the lab has ended: nothing is sent any more, and nobody waited for
 * and reads when the traffic of all has ended, or 0.
 */
#include <linux/fabriclab_wires.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include "wires.h"

#define WIRES_TEXT 64

static u64 all_ended(void)
{
	unsigned int part;
	u64 last = 0;

	for (part = 0; part < wires.count; part++) {
		u64 ended = READ_ONCE(wires.lines[part].ended);

		if (!ended)
			return 0;
		last = max(last, ended);
	}
	return last;
}

static ssize_t wires_read(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	char text[WIRES_TEXT];
	int length = scnprintf(text, sizeof(text), "%llu\n", all_ended());

	return simple_read_from_buffer(buffer, size, position, text, length);
}

static void begin_node(struct net *network, u64 stream)
{
	network->wire_stream = stream;
	network->wire_ports = stream;
}

static void leave(struct wires_line *own)
{
	own->waited_ns = wires.waited_ns;
	own->waits = wires.waits;
	own->sent = wires.sent;
	WRITE_ONCE(own->gone, 1);
	wires_publish(U64_MAX);
}

static ssize_t wires_write(struct file *file, const char __user *buffer, size_t size,
			   loff_t *position)
{
	struct wires_line *own = &wires.lines[wires.index];
	char text[WIRES_TEXT] = {};
	u64 number;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, size))
		return -EFAULT;
	if (sscanf(text, "node %llu", &number) == 1 && number)
		begin_node(current->nsproxy->net_ns, number);
	else if (sscanf(text, "ended %llu", &number) == 1 && number)
		WRITE_ONCE(own->ended, number);
	else if (!strcmp(text, "leave"))
		leave(own);
	else
		return -EINVAL;
	return size;
}

static const struct proc_ops wires_operations = {
	.proc_read	= wires_read,
	.proc_write	= wires_write,
	.proc_lseek	= default_llseek,
};

static int __init wires_proc(void)
{
	if (wires_are_on && !proc_create("fabriclab_wires", 0600, NULL, &wires_operations))
		return -ENOMEM;
	return 0;
}
device_initcall(wires_proc);
