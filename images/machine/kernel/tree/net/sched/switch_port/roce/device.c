// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/roce: queue pairs of programs (uapi/roce.h).
 *
 * A file belongs to the network namespace of the program that opened it. Its pairs, and
 * whether their NIC is there, change under `roce_life`; what they send and receive under the
 * chip's lock; what is to be read under the file's own.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <net/net_namespace.h>

#include "../switch.h"

/* That a program has given, and not read. */
#define ROCE_MESSAGES_MAX (1U << 20)

DEFINE_MUTEX(roce_life);

/* -- Completions --------------------------------------------------------------------------------- */

void roce_complete(struct roce_pair *pair, struct roce_message *message)
{
	struct roce_program *program = pair->program;

	message->completion.sent_again = pair->sent_again;
	message->completion.timeouts = pair->timeouts;
	message->completion.notifications = pair->notifications;
	message->completion.marks = pair->marks;
	spin_lock_bh(&program->lock);
	list_add_tail(&message->list, &program->done);
	spin_unlock_bh(&program->lock);
	wake_up_interruptible(&program->readers);
}

/* Tells of a message of the peer's. */
static void complete_new(struct roce_pair *pair, const struct roce_completion *completion)
{
	struct roce_message *message = kzalloc(sizeof(*message), GFP_ATOMIC);

	if (WARN_ON_ONCE(!message))
		return;
	message->completion = *completion;
	roce_complete(pair, message);
}

void roce_arrived(struct roce_pair *pair, u64 now)
{
	struct roce_completion completion = {
		.time_ns = now,
		.first_ns = pair->received_first_ns,
		.id = pair->received_messages,
		.bytes = pair->received_bytes,
		.pair = pair->number,
		.kind = ROCE_RECEIVED,
	};

	complete_new(pair, &completion);
}

void roce_answered(struct roce_pair *pair, u64 now)
{
	struct roce_completion completion = {
		.time_ns = now,
		.first_ns = pair->answer_first_ns,
		.id = pair->reads_answered++,
		.bytes = pair->answered_bytes - pair->reported_bytes,
		.pair = pair->number,
		.kind = ROCE_ANSWERED,
	};

	pair->reported_bytes = pair->answered_bytes;
	pair->answer_first_ns = 0;
	complete_new(pair, &completion);
}

static struct roce_message *next_done(struct roce_program *program)
{
	struct roce_message *message;

	spin_lock_bh(&program->lock);
	message = list_first_entry_or_null(&program->done, struct roce_message, list);
	if (message) {
		list_del(&message->list);
		program->messages -= message->completion.kind == ROCE_SENT;
	}
	spin_unlock_bh(&program->lock);
	return message;
}

static ssize_t roce_read(struct file *file, char __user *to, size_t count, loff_t *place)
{
	struct roce_program *program = file->private_data;
	struct roce_message *message;
	ssize_t done = 0;
	int error = 0;

	if (list_empty(&program->done) && file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	if (wait_event_interruptible(program->readers, !list_empty(&program->done)))
		return -ERESTARTSYS;
	while (!error && count - done >= sizeof(message->completion) &&
	       (message = next_done(program))) {
		if (copy_to_user(to + done, &message->completion, sizeof(message->completion)))
			error = -EFAULT;
		done += sizeof(message->completion);
		kfree(message);
	}
	return error ?: done;
}

static __poll_t roce_poll(struct file *file, struct poll_table_struct *table)
{
	struct roce_program *program = file->private_data;

	poll_wait(file, &program->readers, table);
	return list_empty(&program->done) ? 0 : EPOLLIN | EPOLLRDNORM;
}

/* -- Messages ------------------------------------------------------------------------------------ */

static int count_message(struct roce_program *program, int change)
{
	int error = 0;

	spin_lock_bh(&program->lock);
	if (change > 0 && program->messages >= ROCE_MESSAGES_MAX)
		error = -ENOBUFS;
	else
		program->messages += change;
	spin_unlock_bh(&program->lock);
	return error;
}

/* Under `roce_life`. */
static int give(struct roce_pair *pair, struct roce_message *message)
{
	struct switch_port *port;
	int error;
	u64 now;

	if (!pair)
		return -ENOENT;
	if (!pair->nic)
		return -ENODEV;
	port = pair->nic->port;
	now = switch_chip_lock(port->chip);
	error = pair->failed ? -EPIPE : roce_read_check(pair, message);
	if (!error) {
		roce_pair_post(pair, message);
		roce_pair_turn(pair, now);
		switch_port_run(port, now);
		switch_port_sync_stats(port);
	}
	switch_chip_unlock(port->chip);
	return error;
}

static const u8 opcodes[] = {
	[ROCE_WRITE] = ROCE_WRITE_FIRST,
	[ROCE_SEND] = ROCE_SEND_FIRST,
	[ROCE_READ] = ROCE_READ_REQUEST,
};

static int post(struct roce_program *program, const struct roce_post *post)
{
	struct roce_message *message;
	int error;

	if (post->operation >= ARRAY_SIZE(opcodes) || post->bytes > ROCE_MESSAGE_MAX)
		return -EINVAL;
	error = count_message(program, 1);
	if (error)
		return error;
	message = kzalloc(sizeof(*message), GFP_KERNEL);
	if (!message) {
		count_message(program, -1);
		return -ENOMEM;
	}
	message->opcode = opcodes[post->operation];
	message->completion = (struct roce_completion) {
		.id = post->id,
		.bytes = post->bytes,
		.pair = post->pair,
		.kind = ROCE_SENT,
	};
	mutex_lock(&roce_life);
	error = give(xa_load(&program->pairs, post->pair), message);
	mutex_unlock(&roce_life);
	if (error) {
		count_message(program, -1);
		kfree(message);
	}
	return error;
}

/* -- Life ---------------------------------------------------------------------------------------- */

/* Under `roce_life` and the chip's lock. */
static void part(struct roce_pair *pair, u64 now)
{
	roce_pair_fail(pair, ROCE_FLUSHED, now);
	xa_erase(&pair->nic->pairs, pair->number);
	pair->nic = NULL;
}

/* The NIC goes, its programs stay. */
void roce_pairs_end(struct roce_nic *nic)
{
	struct switch_chip *chip = nic->port->chip;
	struct roce_pair *pair;
	unsigned long number;
	u64 now;

	mutex_lock(&roce_life);
	now = switch_chip_lock(chip);
	xa_for_each(&nic->pairs, number, pair)
		part(pair, now);
	switch_chip_unlock(chip);
	mutex_unlock(&roce_life);
}

static void end_pair(struct roce_pair *pair)
{
	struct switch_chip *chip = pair->nic ? pair->nic->port->chip : NULL;

	if (chip) {
		part(pair, switch_chip_lock(chip));
		switch_chip_unlock(chip);
	}
	xa_erase(&pair->program->pairs, pair->number);
	roce_pair_free(pair);
}

static int roce_open(struct inode *inode, struct file *file)
{
	struct roce_program *program = kzalloc(sizeof(*program), GFP_KERNEL);

	if (!program)
		return -ENOMEM;
	program->net = get_net(current->nsproxy->net_ns);
	xa_init(&program->pairs);
	INIT_LIST_HEAD(&program->done);
	spin_lock_init(&program->lock);
	init_waitqueue_head(&program->readers);
	file->private_data = program;
	return 0;
}

static int roce_release(struct inode *inode, struct file *file)
{
	struct roce_program *program = file->private_data;
	struct roce_message *message;
	struct roce_pair *pair;
	unsigned long number;

	mutex_lock(&roce_life);
	xa_for_each(&program->pairs, number, pair)
		end_pair(pair);
	mutex_unlock(&roce_life);
	xa_destroy(&program->pairs);
	while ((message = next_done(program)))
		kfree(message);
	put_net(program->net);
	kfree(program);
	return 0;
}

static long roce_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct roce_connect asked_pair;
	struct roce_post asked_message;
	void __user *from = (void __user *)argument;

	switch (request) {
	case ROCE_CONNECT:
		if (copy_from_user(&asked_pair, from, sizeof(asked_pair)))
			return -EFAULT;
		return roce_connect_pair(file->private_data, &asked_pair);
	case ROCE_POST:
		if (copy_from_user(&asked_message, from, sizeof(asked_message)))
			return -EFAULT;
		return post(file->private_data, &asked_message);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations roce_files = {
	.owner		= THIS_MODULE,
	.open		= roce_open,
	.release	= roce_release,
	.read		= roce_read,
	.poll		= roce_poll,
	.unlocked_ioctl	= roce_ioctl,
};

static struct miscdevice roce_device = {
	.minor	= ROCE_DEVICE_MINOR,
	.name	= "roce",
	.fops	= &roce_files,
};

int roce_register(void)
{
	return roce_controls_register() ?: misc_register(&roce_device);
}
