// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/fabriclab_samples: include/uapi/linux/fabriclab_samples.h.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/netdevice.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <uapi/linux/fabriclab_samples.h>
#include "samples.h"

#define SAMPLES_LEAST_INTERVAL NSEC_PER_USEC

/* Programs of nodes, which have PIDs of their own, record nothing. */
static int samples_open(struct inode *inode, struct file *file)
{
	struct samples_recorder *recorder;

	if (task_active_pid_ns(current) != &init_pid_ns)
		return -EPERM;
	recorder = kzalloc(sizeof(*recorder), GFP_KERNEL);
	if (!recorder)
		return -ENOMEM;
	INIT_LIST_HEAD(&recorder->list);
	init_waitqueue_head(&recorder->readers);
	mutex_init(&recorder->lock);
	file->private_data = recorder;
	return stream_open(inode, file);
}

static void forget_item(struct samples_item *item)
{
	u32 part;

	put_net(item->net);
	for (part = 0; part < item->parts; part++)
		kfree(item->last[part].bytes);
	kfree(item->last);
}

static int samples_release(struct inode *inode, struct file *file)
{
	struct samples_recorder *recorder = file->private_data;
	u32 number;

	samples_stop(recorder);
	for (number = 0; number < recorder->count; number++)
		forget_item(&recorder->items[number]);
	kvfree(recorder->items);
	vfree(recorder->memory);
	kfree(recorder);
	return 0;
}

/* -- Requests ------------------------------------------------------------------------ */

static int find_interface(struct samples_item *item)
{
	struct net_device *dev;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(item->net, item->interface_index);
	if (dev)
		strscpy(item->name, dev->name, sizeof(item->name));
	rcu_read_unlock();
	return dev ? 0 : -ENODEV;
}

/* Room for another item: the room doubles whenever it is used up. */
static struct samples_item *next_item(struct samples_recorder *recorder)
{
	struct samples_item *items = recorder->items;
	u32 count = recorder->count;

	if (!(count & (count - 1))) {
		items = kvrealloc(items, max(2 * count, 1) * sizeof(*items), GFP_KERNEL);
		if (!items)
			return NULL;
		recorder->items = items;
	}
	memset(&items[count], 0, sizeof(*items));
	return &items[count];
}

static int make_room(struct samples_item *item)
{
	item->parts = item->kind == SAMPLES_SWITCH_PORT ? SAMPLES_SWITCH_PARTS : 1;
	item->last = kcalloc(item->parts, sizeof(*item->last), GFP_KERNEL);
	return item->last ? 0 : -ENOMEM;
}

static int add_item(struct samples_recorder *recorder, const struct samples_request *request)
{
	struct samples_item *item = next_item(recorder);
	int error = 0;

	if (!item)
		return -ENOMEM;
	item->net = get_net_ns_by_fd(request->netns);
	if (IS_ERR(item->net))
		return PTR_ERR(item->net);
	item->kind = request->kind;
	item->interface_index = request->interface_index;
	item->handle = request->handle;
	if (item->kind != SAMPLES_CONNECTIONS)
		error = find_interface(item);
	error = error ?: make_room(item);
	if (error) {
		put_net(item->net);
		return error;
	}
	recorder->count++;
	return 0;
}

static int add_mark(struct samples_recorder *recorder, u32 mark)
{
	if (recorder->mark_count == SAMPLES_MARKS)
		return -ENOSPC;
	recorder->marks[recorder->mark_count++] = mark;
	return 0;
}

static bool is_item(u32 kind)
{
	return kind == SAMPLES_QUEUE || kind == SAMPLES_CONNECTIONS || kind == SAMPLES_INTERFACE ||
	       kind == SAMPLES_SWITCH_PORT;
}

/* Each change is recorded of queues only. */
static bool has_interval(const struct samples_recorder *recorder, u64 interval)
{
	u32 number;

	for (number = 0; !interval && number < recorder->count; number++)
		if (recorder->items[number].kind != SAMPLES_QUEUE)
			return false;
	return !interval || interval >= SAMPLES_LEAST_INTERVAL;
}

static int obey(struct samples_recorder *recorder, const struct samples_request *request)
{
	if (!list_empty(&recorder->list))
		return -EBUSY;
	if (is_item(request->kind))
		return add_item(recorder, request);
	if (request->kind == SAMPLES_MARK)
		return add_mark(recorder, request->handle);
	if (request->kind != SAMPLES_START || !recorder->count ||
	    !has_interval(recorder, request->interval_ns))
		return -EINVAL;
	return samples_start(recorder, request->first_ns, request->interval_ns);
}

static ssize_t samples_write(struct file *file, const char __user *buffer, size_t size,
			     loff_t *position)
{
	struct samples_recorder *recorder = file->private_data;
	struct samples_request request;
	int error;

	if (size != sizeof(request))
		return -EINVAL;
	if (copy_from_user(&request, buffer, size))
		return -EFAULT;
	mutex_lock(&recorder->lock);
	error = obey(recorder, &request);
	mutex_unlock(&recorder->lock);
	return error ?: size;
}

/* -- Records ------------------------------------------------------------------------- */

static ssize_t samples_read(struct file *file, char __user *buffer, size_t size,
			    loff_t *position)
{
	struct samples_recorder *recorder = file->private_data;
	unsigned int copied = 0;
	int error = 0;

	mutex_lock(&recorder->lock);
	if (recorder->memory)
		error = kfifo_to_user(&recorder->records, buffer, size, &copied);
	/* From its beginning again: less memory is touched. */
	if (kfifo_is_empty(&recorder->records))
		kfifo_reset(&recorder->records);
	if (!error && !copied && recorder->lost)
		error = -ENOBUFS;
	mutex_unlock(&recorder->lock);
	if (error)
		return error;
	return copied;
}

static __poll_t samples_poll(struct file *file, poll_table *table)
{
	struct samples_recorder *recorder = file->private_data;

	poll_wait(file, &recorder->readers, table);
	return recorder->memory && samples_are_many(recorder) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct proc_ops samples_operations = {
	.proc_open	= samples_open,
	.proc_release	= samples_release,
	.proc_read	= samples_read,
	.proc_write	= samples_write,
	.proc_poll	= samples_poll,
};

static int __init samples_proc(void)
{
	if (time_travel_mode == TT_MODE_INFCPU &&
	    !proc_create("fabriclab_samples", 0600, NULL, &samples_operations))
		return -ENOMEM;
	return 0;
}
device_initcall(samples_proc);
