// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion events, as a switch's queue-length monitor tells them: a queue reached its
 * threshold, for how long, how much, and from which ingress ports. Multicast over
 * generic netlink, in the switch's namespace.
 */
#include <net/genetlink.h>

#include "switch.h"

static const struct genl_multicast_group switch_event_groups[] = {
	{ .name = SWITCH_PORT_GENL_EVENTS },
};

static struct genl_family switch_event_family = {
	.name = SWITCH_PORT_GENL_NAME,
	.version = SWITCH_PORT_GENL_VERSION,
	.maxattr = SWITCH_PORT_EVENT_MAX,
	.netnsok = true,
	.mcgrps = switch_event_groups,
	.n_mcgrps = ARRAY_SIZE(switch_event_groups),
};

/* What a message may take, with all ingress ports of the switch. */
#define SWITCH_EVENT_BYTES (256 + SWITCH_SLOTS * 32)

static int switch_event_put_one_ingress(struct sk_buff *message, u32 ifindex, u64 bytes)
{
	struct nlattr *nest = nla_nest_start(message, SWITCH_PORT_EVENT_INGRESS);

	if (!nest || nla_put_u32(message, SWITCH_PORT_EVENT_IIF, ifindex) ||
	    nla_put_u64_64bit(message, SWITCH_PORT_EVENT_IIF_BYTES, bytes, SWITCH_PORT_EVENT_PAD))
		return -EMSGSIZE;
	nla_nest_end(message, nest);
	return 0;
}

static int switch_event_put_ingress(struct sk_buff *message, const struct switch_port *port,
				    int queue)
{
	const u64 *bytes = port->queue[queue].event.ingress_bytes;
	int slot;

	for (slot = 0; slot < SWITCH_SLOTS; slot++)
		if (bytes[slot] &&
		    switch_event_put_one_ingress(message, port->chip->ingress[slot]->ifindex,
						 bytes[slot]))
			return -EMSGSIZE;
	return 0;
}

/* `end_ns` is 0 while the event goes on. */
static int switch_event_fill(struct sk_buff *message, const struct switch_port *port, int number,
			     u64 end_ns)
{
	const struct switch_queue *queue = &port->queue[number];
	void *header = genlmsg_put(message, 0, 0, &switch_event_family, 0, SWITCH_PORT_CMD_EVENT);

	if (!header ||
	    nla_put_u32(message, SWITCH_PORT_EVENT_IFINDEX, qdisc_dev(port->sch)->ifindex) ||
	    nla_put_u8(message, SWITCH_PORT_EVENT_QUEUE, number) ||
	    nla_put_u64_64bit(message, SWITCH_PORT_EVENT_START, queue->event.start_ns,
			      SWITCH_PORT_EVENT_PAD) ||
	    nla_put_u64_64bit(message, SWITCH_PORT_EVENT_BYTES, queue->bytes,
			      SWITCH_PORT_EVENT_PAD) ||
	    nla_put_u64_64bit(message, SWITCH_PORT_EVENT_PEAK, queue->event.peak_bytes,
			      SWITCH_PORT_EVENT_PAD))
		return -EMSGSIZE;
	if (end_ns &&
	    nla_put_u64_64bit(message, SWITCH_PORT_EVENT_END, end_ns, SWITCH_PORT_EVENT_PAD))
		return -EMSGSIZE;
	if (switch_event_put_ingress(message, port, number))
		return -EMSGSIZE;
	genlmsg_end(message, header);
	return 0;
}

/*
 * Without memory, or to a listener that doesn't keep up, an event is lost; netlink tells
 * the listener so (ENOBUFS).
 */
static void switch_event_tell(const struct switch_port *port, int number, u64 end_ns)
{
	struct net *net = port->chip->net;
	struct sk_buff *message;

	if (!genl_has_listeners(&switch_event_family, net, 0))
		return;
	message = genlmsg_new(SWITCH_EVENT_BYTES, GFP_ATOMIC);
	if (!message)
		return;
	if (switch_event_fill(message, port, number, end_ns))
		nlmsg_free(message);
	else
		genlmsg_multicast_netns(&switch_event_family, net, message, 0, 0, GFP_ATOMIC);
}

static void switch_event_begin(struct switch_port *port, int number, u64 now)
{
	struct switch_queue *queue = &port->queue[number];

	queue->event.open = true;
	queue->event.start_ns = now;
	queue->event.peak_bytes = queue->bytes;
	memcpy(queue->event.ingress_bytes, queue->ingress_bytes, SWITCH_SLOTS * sizeof(u64));
	switch_event_tell(port, number, 0);
}

/* A frame has been counted into a queue that has a threshold. */
void switch_event_arrival(struct switch_port *port, int number, u16 slot, u32 bytes, u64 now)
{
	struct switch_queue *queue = &port->queue[number];

	if (queue->event.open) {
		queue->event.ingress_bytes[slot] += bytes;
		queue->event.peak_bytes = max(queue->event.peak_bytes, queue->bytes);
	} else if (queue->bytes >= port->config.queue[number].event_threshold) {
		switch_event_begin(port, number, now);
	}
}

/* A frame has left a queue whose event is under way. */
void switch_event_departure(struct switch_port *port, int number, u64 now)
{
	struct switch_queue *queue = &port->queue[number];

	if (queue->bytes > port->config.queue[number].event_threshold / 2)
		return;
	queue->event.open = false;
	switch_event_tell(port, number, now);
}

int switch_events_register(void)
{
	return genl_register_family(&switch_event_family);
}
