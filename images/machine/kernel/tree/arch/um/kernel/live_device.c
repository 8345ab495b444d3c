// SPDX-License-Identifier: GPL-2.0
/*
 * The device by which PID 1 of a live machine reads what the host's users ask for,
 * and writes what comes of it: one whole input or output a call.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <live_ticks.h>
#include <os.h>
#include "live.h"

/* What PID 1 writes, on its way to the host. */
static u8 output[LIVE_PAYLOAD_MAX];
static DEFINE_MUTEX(output_lock);

static int live_open(struct inode *inode, struct file *file)
{
	/* PID 1's alone. */
	if (atomic_cmpxchg(&live_device_users, 0, 1))
		return -EBUSY;
	return stream_open(inode, file);
}

static int live_release(struct inode *inode, struct file *file)
{
	atomic_set(&live_device_users, 0);
	return 0;
}

/* One whole input; EMSGSIZE if it is longer than the caller's buffer. */
static ssize_t live_read(struct file *file, char __user *buffer, size_t size,
			 loff_t *position)
{
	u32 length;
	int status;

	while (!live_input.length) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		status = wait_event_interruptible(live_input_arrived, live_input.length);
		if (status)
			return status;
	}
	length = live_input.length;
	if (size < length)
		return -EMSGSIZE;
	if (copy_to_user(buffer, live_input.bytes, length))
		return -EFAULT;
	live_input.length = 0;
	return length;
}

/* One output. The host reads it before time goes on. */
static ssize_t live_write(struct file *file, const char __user *buffer,
			  size_t size, loff_t *position)
{
	ssize_t status = -EFAULT;

	if (size > LIVE_PAYLOAD_MAX)
		return -EMSGSIZE;
	mutex_lock(&output_lock);
	if (!copy_from_user(output, buffer, size)) {
		live_output(output, size);
		status = size;
	}
	mutex_unlock(&output_lock);
	return status;
}

static __poll_t live_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &live_input_arrived, table);
	return EPOLLOUT | EPOLLWRNORM |
	       (live_input.length ? EPOLLIN | EPOLLRDNORM : 0);
}

/* PID 1 lets the host look before time goes on; it says which namespaces are the nodes'. */
static long live_ioctl(struct file *file, unsigned int command,
		       unsigned long argument)
{
	switch (command) {
	case LIVE_IOC_STOP:
		live_stop(LIVE_STOP_BY_INIT);
		return 0;
	case LIVE_IOC_NODE:
		return live_look_name_node(argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations live_operations = {
	.owner		= THIS_MODULE,
	.open		= live_open,
	.release	= live_release,
	.read		= live_read,
	.write		= live_write,
	.poll		= live_poll,
	.unlocked_ioctl	= live_ioctl,
};

static struct miscdevice live_device = {
	.minor	= LIVE_DEVICE_MINOR,
	.name	= "fabriclab",
	.fops	= &live_operations,
};

static int __init live_init(void)
{
	int status;

	if (!live_is_on())
		return 0;
	os_prompt_timers();
	status = os_live_ticks();
	if (status)
		return status;
	live_watches = true;
	return misc_register(&live_device);
}
device_initcall(live_init);
