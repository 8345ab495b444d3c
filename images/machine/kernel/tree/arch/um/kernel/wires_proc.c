// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/fabriclab_wires, by which PID 1 takes part in what the machines of a lab agree on.
 *
 * It writes
 *   node STREAM   the current network namespace is a node's; what it draws is of this stream
 *   ended NS      this machine's traffic has ended, at that virtual time
 *   looks N WORD  what it saw when it looked at the subject N, in a form of its own
 *   leave         the lab has ended: nothing is sent any more, and nobody waited for
 * and reads when the traffic of all has ended, or 0, how many machines have left, and the words
 * of each machine.
 */
#include <linux/fabriclab_wires.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
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

static int wires_show(struct seq_file *file, void *unused)
{
	unsigned int part, subject, gone = 0;

	for (part = 0; part < wires.count; part++)
		gone += READ_ONCE(wires.lines[part].gone);
	seq_printf(file, "%llu %u", all_ended(), gone);
	for (part = 0; part < wires.count; part++)
		for (subject = 0; subject < WIRES_SUBJECTS; subject++)
			seq_printf(file, " %llu", READ_ONCE(wires.lines[part].looks[subject]));
	seq_putc(file, '\n');
	return 0;
}

static int wires_open(struct inode *inode, struct file *file)
{
	return single_open(file, wires_show, NULL);
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
	WRITE_ONCE(own->gone, 1);
	wires_publish(U64_MAX);
}

static ssize_t wires_write(struct file *file, const char __user *buffer, size_t size,
			   loff_t *position)
{
	struct wires_line *own = &wires.lines[wires.index];
	char text[WIRES_TEXT] = {};
	unsigned int subject;
	u64 number;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, size))
		return -EFAULT;
	if (sscanf(text, "node %llu", &number) == 1 && number)
		begin_node(current->nsproxy->net_ns, number);
	else if (sscanf(text, "ended %llu", &number) == 1 && number)
		WRITE_ONCE(own->ended, number);
	else if (sscanf(text, "looks %u %llu", &subject, &number) == 2 && subject < WIRES_SUBJECTS)
		WRITE_ONCE(own->looks[subject], number);
	else if (!strcmp(text, "leave"))
		leave(own);
	else
		return -EINVAL;
	return size;
}

static const struct proc_ops wires_operations = {
	.proc_open	= wires_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= wires_write,
};

static int __init wires_proc(void)
{
	if (wires_are_on && !proc_create("fabriclab_wires", 0600, NULL, &wires_operations))
		return -ENOMEM;
	return 0;
}
device_initcall(wires_proc);
