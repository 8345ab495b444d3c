// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/roce: queue pairs of programs (uapi/roce.h).
 *
 * A file belongs to the network namespace of the program that opened it. Its pairs, and
 * whether their NIC is there, change under `life`; what they send and receive under the
 * chip's lock; what is to be read under the file's own.
 */
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/ip.h>
#include <linux/miscdevice.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/arp.h>
#include <net/ip.h>
#include <net/neighbour.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "../switch.h"

/* That a program has given, and not read. */
#define ROCE_MESSAGES_MAX (1U << 20)
#define ROCE_TTL 64
#define ROCE_RESOLVE_MS 1000

static DEFINE_MUTEX(life);

struct roce_program {
	struct net *net;
	struct list_head pairs;
	spinlock_t lock;
	struct list_head done;		/* messages to read */
	u32 messages;			/* posted and not read */
	wait_queue_head_t readers;
};

/* -- Completions --------------------------------------------------------------------------------- */

void roce_complete(struct roce_program *program, struct roce_message *message)
{
	spin_lock_bh(&program->lock);
	list_add_tail(&message->list, &program->done);
	spin_unlock_bh(&program->lock);
	wake_up_interruptible(&program->readers);
}

void roce_arrived(struct roce_pair *pair, u64 now)
{
	struct roce_message *message = kzalloc(sizeof(*message), GFP_ATOMIC);

	if (WARN_ON_ONCE(!message))
		return;
	message->completion = (struct roce_completion) {
		.time_ns = now,
		.id = pair->received_messages,
		.bytes = pair->received_bytes,
		.pair = pair->number,
		.kind = ROCE_RECEIVED,
	};
	roce_complete(pair->program, message);
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

/* -- Connections --------------------------------------------------------------------------------- */

/* The peer's, or the gateway's, address on the link, once it is known. */
static int resolve(struct rtable *route, __be32 peer, u8 *address)
{
	struct neighbour *neighbour = dst_neigh_lookup(&route->dst, &peer);
	unsigned long end = jiffies + msecs_to_jiffies(ROCE_RESOLVE_MS);
	bool is_known;

	if (!neighbour)
		return -EHOSTUNREACH;
	while (!(is_known = READ_ONCE(neighbour->nud_state) & NUD_VALID) &&
	       time_before(jiffies, end)) {
		neigh_event_send(neighbour, NULL);
		if (msleep_interruptible(1))
			break;
	}
	neigh_ha_snapshot(address, neighbour, route->dst.dev);
	neigh_release(neighbour);
	return is_known ? 0 : -EHOSTUNREACH;
}

static void put_headers(struct roce_pair *pair, const struct roce_connect *connect,
			const struct net_device *dev, const u8 *gateway, __be32 own)
{
	struct ethhdr *ethernet = (struct ethhdr *)pair->headers;
	struct iphdr *ip = (struct iphdr *)(ethernet + 1);
	struct udphdr *udp = (struct udphdr *)(ip + 1);

	ether_addr_copy(ethernet->h_dest, gateway);
	ether_addr_copy(ethernet->h_source, dev->dev_addr);
	ethernet->h_proto = htons(ETH_P_IP);
	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.frag_off = htons(IP_DF),
		.ttl = ROCE_TTL,
		.protocol = IPPROTO_UDP,
		.saddr = own,
		.daddr = connect->peer,
	};
	udp->source = htons(connect->source_port);
	udp->dest = htons(ROCE_PORT);
}

static struct roce_pair *new_pair(struct roce_program *program, const struct roce_connect *connect)
{
	struct roce_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return NULL;
	pair->program = program;
	pair->number = connect->pair;
	pair->peer = connect->peer_pair;
	INIT_LIST_HEAD(&pair->messages);
	INIT_LIST_HEAD(&pair->waiting);
	timerqueue_init(&pair->paced);
	return pair;
}

static u32 longest_frame(const struct roce_config *config)
{
	return ROCE_HEADERS_BYTES + ROCE_BTH_BYTES + ROCE_RETH_BYTES + config->mtu +
	       ROCE_ICRC_BYTES;
}

/* Under RTNL and `life`. */
static int join(struct roce_pair *pair, struct net_device *dev)
{
	struct switch_port *port;
	int error;

	rcu_read_lock();
	port = switch_port_of_device(dev);
	rcu_read_unlock();
	if (!port || !port->roce || !port->config.roce.mtu)
		return -ENODEV;
	if (longest_frame(&port->config.roce) > dev->mtu + ETH_HLEN)
		return -EMSGSIZE;
	error = xa_insert(&port->roce->pairs, pair->number, pair, GFP_KERNEL);
	if (error)
		return error == -EBUSY ? -EADDRINUSE : error;
	pair->nic = port->roce;
	roce_dcqcn_begin(&pair->dcqcn, port->config.rate_bps);
	list_add_tail(&pair->of_program, &pair->program->pairs);
	return 0;
}

static int connect_pair(struct roce_program *program, const struct roce_connect *connect)
{
	struct flowi4 flow = { .daddr = connect->peer, .flowi4_proto = IPPROTO_UDP };
	struct rtable *route;
	struct roce_pair *pair;
	u8 gateway[ETH_ALEN];
	int error;

	if (!connect->pair || connect->pair > ROCE_PAIR_MAX || !connect->peer_pair ||
	    connect->peer_pair > ROCE_PAIR_MAX)
		return -EINVAL;
	route = ip_route_output_key(program->net, &flow);
	if (IS_ERR(route))
		return PTR_ERR(route);
	error = resolve(route, connect->peer, gateway);
	pair = error ? NULL : new_pair(program, connect);
	if (!pair) {
		ip_rt_put(route);
		return error ?: -ENOMEM;
	}
	put_headers(pair, connect, route->dst.dev, gateway, flow.saddr);
	rtnl_lock();
	mutex_lock(&life);
	error = join(pair, route->dst.dev);
	mutex_unlock(&life);
	rtnl_unlock();
	ip_rt_put(route);
	if (error)
		kfree(pair);
	return error;
}

/* -- Messages ------------------------------------------------------------------------------------ */

static struct roce_pair *find_pair(struct roce_program *program, u32 number)
{
	struct roce_pair *pair;

	list_for_each_entry(pair, &program->pairs, of_program)
		if (pair->number == number)
			return pair;
	return NULL;
}

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

/* Under `life`. */
static int give(struct roce_pair *pair, struct roce_message *message)
{
	struct switch_port *port;
	int error = 0;
	u64 now;

	if (!pair)
		return -ENOENT;
	if (!pair->nic)
		return -ENODEV;
	port = pair->nic->port;
	now = switch_chip_lock(port->chip);
	if (pair->failed) {
		error = -EPIPE;
	} else {
		roce_pair_post(pair, message);
		roce_pair_turn(pair, now);
		switch_port_run(port, now);
		switch_port_sync_stats(port);
	}
	switch_chip_unlock(port->chip);
	return error;
}

static int post(struct roce_program *program, const struct roce_post *post)
{
	struct roce_message *message;
	int error;

	if (post->operation > ROCE_SEND || post->bytes > ROCE_MESSAGE_MAX)
		return -EINVAL;
	error = count_message(program, 1);
	if (error)
		return error;
	message = kzalloc(sizeof(*message), GFP_KERNEL);
	if (!message) {
		count_message(program, -1);
		return -ENOMEM;
	}
	message->opcode = post->operation == ROCE_SEND ? ROCE_SEND_FIRST : ROCE_WRITE_FIRST;
	message->completion = (struct roce_completion) {
		.id = post->id,
		.bytes = post->bytes,
		.pair = post->pair,
		.kind = ROCE_SENT,
	};
	mutex_lock(&life);
	error = give(find_pair(program, post->pair), message);
	mutex_unlock(&life);
	if (error) {
		count_message(program, -1);
		kfree(message);
	}
	return error;
}

/* -- Life ---------------------------------------------------------------------------------------- */

/* Under `life` and the chip's lock. */
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

	mutex_lock(&life);
	now = switch_chip_lock(chip);
	xa_for_each(&nic->pairs, number, pair)
		part(pair, now);
	switch_chip_unlock(chip);
	mutex_unlock(&life);
}

static void end_pair(struct roce_pair *pair)
{
	struct switch_chip *chip = pair->nic ? pair->nic->port->chip : NULL;

	if (chip) {
		part(pair, switch_chip_lock(chip));
		switch_chip_unlock(chip);
	}
	list_del(&pair->of_program);
	kfree(pair);
}

static int roce_open(struct inode *inode, struct file *file)
{
	struct roce_program *program = kzalloc(sizeof(*program), GFP_KERNEL);

	if (!program)
		return -ENOMEM;
	program->net = get_net(current->nsproxy->net_ns);
	INIT_LIST_HEAD(&program->pairs);
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
	struct roce_pair *pair, *next;

	mutex_lock(&life);
	list_for_each_entry_safe(pair, next, &program->pairs, of_program)
		end_pair(pair);
	mutex_unlock(&life);
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
		return connect_pair(file->private_data, &asked_pair);
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

int roce_device_register(void)
{
	return misc_register(&roce_device);
}
