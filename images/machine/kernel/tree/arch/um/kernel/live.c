// SPDX-License-Identifier: GPL-2.0
/*
 * The live machine: virtual time at a pace, and inputs at instants of their own.
 *
 * The clock of a machine in inf-cpu mode moves in the idle loop only, from one
 * timer event to the next. Here it waits before it does: for the wall clock, when
 * a pace was asked for; for ever, when time was stopped; and while it waits it
 * listens to the host. An input that comes is taken at the virtual instant that
 * corresponds to the wall clock, which lies between the last event and the next.
 *
 * So an input has a place in the machine's history that does not depend on the
 * host: how many events had happened, and which instant it was. The host writes
 * both down. Given them again, with the input, a machine does again what this one
 * did, at any pace. What only changes the pace changes nothing inside.
 *
 * Who reads slowly at the host's end makes the machine wait, and its time with
 * it: nothing is dropped.
 */
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/fabriclab_live.h>
#include <linux/time-internal.h>
#include <os.h>

/* Running late by less is made up for; by more, time has been lost. */
#define LIVE_SLIP_NS	(20 * NSEC_PER_MSEC)
/* How often the host is told the time, and asked for messages at full speed. */
#define LIVE_CLOCK_NS	(20 * NSEC_PER_MSEC)
#define LIVE_LISTEN_NS	NSEC_PER_MSEC

/* The socket's descriptor in the host; -1: an ordinary machine. */
static int live_fd = -1;

/* The machine's clock; it is the idle loop's, which lends it when it first runs. */
static unsigned long long switched_on;
static unsigned long long *clock = &switched_on;

/* How many timer events have happened in the idle loop. */
static u64 live_events;

/* The pace: at the wall clock's `wall` it was the virtual instant `virtual`. */
static struct {
	bool stopped;
	u64 speed;
	u64 until;
	u64 wall;
	u64 virtual;
} pace = { .until = U64_MAX };

/* The input that waits for its turn. */
static struct {
	bool held;
	/* Of a recording: it is to be taken after so many events, at this instant. */
	bool recorded;
	u64 events;
	u64 instant;
	u32 length;
	u8 bytes[LIVE_PAYLOAD_MAX];
} held;

/* The input that PID 1 has not read yet. */
static struct {
	u32 length;
	u8 bytes[LIVE_PAYLOAD_MAX];
} input;

/* What PID 1 writes, on its way to the host. */
static u8 output[LIVE_PAYLOAD_MAX];
static DEFINE_MUTEX(output_lock);

static DECLARE_WAIT_QUEUE_HEAD(input_arrived);
static atomic_t device_users = ATOMIC_INIT(0);
static bool replaying;
static u64 told_clock_at;
static u64 listened_at;

static int __init live_setup(char *text)
{
	if (kstrtoint(text, 10, &live_fd) || live_fd < 0)
		panic("fabriclab.live=%s: expected the number of a descriptor\n",
		      text);
	return 0;
}
early_param("fabriclab.live", live_setup);

/* -- The socket -------------------------------------------------------------------- */

static void write_host(const void *data, size_t length)
{
	while (length) {
		int n = os_write_file(live_fd, data, length);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			panic("fabriclab.live: the host has gone (%d)\n", n);
		data += n;
		length -= n;
	}
}

static void read_host(void *data, size_t length)
{
	while (length) {
		int n = os_read_file(live_fd, data, length);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			panic("fabriclab.live: the host has gone (%d)\n", n);
		data += n;
		length -= n;
	}
}

static void tell(enum live_answer kind, u64 a, u64 b)
{
	struct live_header header = { .kind = kind, .a = a, .b = b };

	write_host(&header, sizeof(header));
}

/* -- The pace ---------------------------------------------------------------------- */

/* When the wall clock shows the virtual instant; 0: it has been, or no pace is kept. */
static u64 wall_of(u64 instant)
{
	if (!pace.speed || instant <= pace.virtual)
		return 0;
	return pace.wall + mul_u64_u64_div_u64(instant - pace.virtual,
					       LIVE_REAL_TIME, pace.speed);
}

/* Which virtual instant the wall clock shows, between now and the next event. */
static u64 instant_of(u64 wall, u64 next)
{
	u64 instant = *clock;

	if (!pace.stopped && pace.speed && wall > pace.wall)
		instant = pace.virtual +
			  mul_u64_u64_shr(wall - pace.wall, pace.speed, 32);
	return clamp_t(u64, instant, *clock, min(next, pace.until));
}

/* It is `instant` now. Who is later than that by too much has lost the time between. */
static void keep_pace(u64 wall, u64 due, u64 instant)
{
	if (due && wall - due > LIVE_SLIP_NS) {
		pace.wall = wall;
		pace.virtual = instant;
	}
}

/* No event is due before `instant`. */
static void advance(u64 instant)
{
	*clock = max_t(u64, *clock, instant);
}

static void stop(enum live_stop why)
{
	pace.stopped = true;
	tell(LIVE_STOPPED, *clock, why);
}

static void tell_clock(u64 wall, u64 next)
{
	if (pace.stopped || wall - told_clock_at < LIVE_CLOCK_NS)
		return;
	told_clock_at = wall;
	tell(LIVE_CLOCK, instant_of(wall, next), wall);
}

/* -- Messages ---------------------------------------------------------------------- */

static void hold(const struct live_header *header)
{
	if (held.held || header->length > LIVE_PAYLOAD_MAX)
		panic("fabriclab.live: an input of %u bytes%s\n", header->length,
		      held.held ? " before the last one was taken" : "");
	held.held = true;
	held.recorded = header->kind == LIVE_INPUT_AT;
	held.events = header->a;
	held.instant = header->b;
	held.length = header->length;
	read_host(held.bytes, held.length);
}

static void set_pace(const struct live_header *header, u64 wall)
{
	pace.stopped = false;
	pace.speed = header->a;
	pace.until = header->b;
	pace.wall = wall;
	pace.virtual = *clock;
}

/* Reads a message and does what it asks for; an input is held until its turn. */
static void obey(u64 next)
{
	struct live_header header;
	u64 wall = os_nsecs();

	read_host(&header, sizeof(header));
	switch (header.kind) {
	case LIVE_INPUT:
	case LIVE_INPUT_AT:
		hold(&header);
		break;
	case LIVE_PACE:
		advance(instant_of(wall, next));
		set_pace(&header, wall);
		break;
	case LIVE_STOP:
		advance(instant_of(wall, next));
		stop(LIVE_STOP_ASKED);
		break;
	case LIVE_REPLAY:
		replaying = header.a;
		break;
	default:
		panic("fabriclab.live: a message of kind %u\n", header.kind);
	}
}

/* Waits for a message until the wall clock's `until`; whether there was one. */
static bool listen(u64 wall, u64 until, u64 next)
{
	if (until <= wall && wall - listened_at < LIVE_LISTEN_NS)
		return false;
	listened_at = wall;
	if (!os_poll_until(live_fd, until))
		return false;
	obey(next);
	return true;
}

/* -- Inputs ------------------------------------------------------------------------ */

static bool can_take(void)
{
	return held.held && !input.length && atomic_read(&device_users);
}

/* Gives the held input to PID 1. */
static void take(u64 instant)
{
	advance(instant);
	memcpy(input.bytes, held.bytes, held.length);
	input.length = held.length;
	held.held = false;
	tell(LIVE_TAKEN, live_events, instant);
	/* The idle loop sleeps for RCU; an interrupt wakes it. */
	irq_enter();
	wake_up_interruptible(&input_arrived);
	irq_exit();
}

/* Whether the recording's input comes before the event at `next`. */
static bool is_next(u64 next)
{
	if (!held.held || !held.recorded || live_events < held.events)
		return false;
	if (live_events == held.events && can_take() &&
	    held.instant >= *clock && held.instant <= next)
		return true;
	held.held = false;
	pace.stopped = true;
	tell(LIVE_DIVERGED, live_events, *clock);
	return false;
}

/* -- The idle loop ----------------------------------------------------------------- */

/* Lets time come to what happens next; whether that is an input, which is taken. */
static bool arrive(u64 next, bool recorded)
{
	if (recorded && held.instant <= pace.until) {
		take(held.instant);
		return true;
	}
	if (pace.until <= next) {
		advance(pace.until);
		pace.until = U64_MAX;
		stop(LIVE_STOP_UNTIL);
	}
	return false;
}

/*
 * Called when the machine is idle at `*now` and its next timer event is due at `next`.
 * Returns whether an input was taken: then whom it woke runs first. Otherwise
 * the event may happen.
 */
bool live_gate(unsigned long long *now, unsigned long long next)
{
	if (live_fd < 0)
		return false;

	clock = now;
	for (;;) {
		u64 wall = os_nsecs();
		bool recorded = is_next(next);
		u64 instant = min(recorded ? held.instant : next, pace.until);
		u64 due = wall_of(instant);

		if (!held.recorded && can_take()) {
			take(instant_of(wall, next));
			return true;
		}
		tell_clock(wall, next);
		if (replaying && !held.held)
			obey(next);
		else if (pace.stopped)
			listen(wall, U64_MAX, next);
		else if (due > wall)
			listen(wall, min(due, told_clock_at + LIVE_CLOCK_NS), next);
		else if (!listen(wall, 0, next)) {
			keep_pace(wall, due, instant);
			if (arrive(next, recorded))
				return true;
			if (!pace.stopped)
				break;
		}
	}
	live_events++;
	return false;
}

/* -- The device -------------------------------------------------------------------- */

static int live_open(struct inode *inode, struct file *file)
{
	/* PID 1's alone. */
	if (atomic_cmpxchg(&device_users, 0, 1))
		return -EBUSY;
	return stream_open(inode, file);
}

static int live_release(struct inode *inode, struct file *file)
{
	atomic_set(&device_users, 0);
	return 0;
}

/* One whole input; EMSGSIZE if it is longer than the caller's buffer. */
static ssize_t live_read(struct file *file, char __user *buffer, size_t size,
			 loff_t *position)
{
	u32 length;
	int status;

	while (!input.length) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		status = wait_event_interruptible(input_arrived, input.length);
		if (status)
			return status;
	}
	length = input.length;
	if (size < length)
		return -EMSGSIZE;
	if (copy_to_user(buffer, input.bytes, length))
		return -EFAULT;
	input.length = 0;
	return length;
}

/* One output. The host reads it before time goes on. */
static ssize_t live_write(struct file *file, const char __user *buffer,
			  size_t size, loff_t *position)
{
	struct live_header header = { .kind = LIVE_OUTPUT, .length = size };
	ssize_t status = -EFAULT;

	if (size > LIVE_PAYLOAD_MAX)
		return -EMSGSIZE;
	mutex_lock(&output_lock);
	if (!copy_from_user(output, buffer, size)) {
		write_host(&header, sizeof(header));
		write_host(output, size);
		status = size;
	}
	mutex_unlock(&output_lock);
	return status;
}

static __poll_t live_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &input_arrived, table);
	return EPOLLOUT | EPOLLWRNORM |
	       (input.length ? EPOLLIN | EPOLLRDNORM : 0);
}

/* PID 1 lets the host look before time goes on. */
static long live_ioctl(struct file *file, unsigned int command,
		       unsigned long argument)
{
	if (command != LIVE_IOC_STOP)
		return -ENOTTY;
	stop(LIVE_STOP_BY_INIT);
	return 0;
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
	if (live_fd < 0)
		return 0;
	os_prompt_timers();
	return misc_register(&live_device);
}
device_initcall(live_init);
