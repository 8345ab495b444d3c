// SPDX-License-Identifier: GPL-2.0
/*
 * Credit of receivers: pulls of NDP (M. Handley et al., "Re-architecting datacenter networks
 * and stacks for low latency and high performance", SIGCOMM 2017), credit of the Ultra
 * Ethernet specification's RCCC.
 *
 * Each packet that comes, whole or trimmed, is owed one packet of credit. The NIC gives one
 * at a time, to its pairs in turn, as fast as full packets follow each other on its line (or
 * slower: credit_bps). So packets of all senders together come as fast as the line takes
 * them. A credit has the number of all that were given, so later ones make up for one that
 * is lost.
 */
#include "../switch.h"

static const struct roce_control *control_of(const struct roce_nic *nic)
{
	return nic->port->config.roce.control;
}

void roce_credit_owe(struct roce_pair *pair, u64 now)
{
	struct roce_nic *nic = pair->nic;
	const struct roce_control *control = control_of(nic);

	if (!control || !control->credit_bps || pair->credit.owed++)
		return;
	if (list_empty(&nic->credits.owing))
		nic->credits.since_ns = now;
	list_add_tail(&pair->credit.owing, &nic->credits.owing);
}

/* When it would have gone, had the line been free. */
static u64 due(const struct roce_nic *nic)
{
	return max(nic->credits.line.free_ns, nic->credits.since_ns);
}

u64 roce_credit_next(const struct roce_nic *nic, u64 now)
{
	return list_empty(&nic->credits.owing) ? SWITCH_NEVER : max(now, due(nic));
}

static struct sk_buff *make_credit(struct roce_pair *pair)
{
	struct roce_base base = {
		.opcode = ROCE_CREDIT,
		.pair = pair->peer,
		.psn = ++pair->credit.given & ROCE_PSN_MASK,
	};
	struct roce_parts parts = { .zeros = ROCE_CRC_ONE };

	return roce_packet(pair, &base, &parts, pair->nic->port->config.roce.ack_dscp);
}

/* The time of the next is that of a full packet later. */
static void pace(struct roce_nic *nic)
{
	const struct switch_port_config *port = &nic->port->config;
	const struct roce_control *control = control_of(nic);
	u32 frame = ROCE_HEADERS_BYTES + ROCE_BTH_BYTES + port->roce.mtu + ROCE_ICRC_BYTES;
	u64 rate = control && control->credit_bps ?
			   control->credit_bps(port->roce.options, port->rate_bps) :
			   port->rate_bps;

	switch_line_send(&nic->credits.line, clamp(rate, 1, port->rate_bps), due(nic),
			 switch_wire_bytes(frame, port->overhead, port->mpu));
}

void roce_credits_give(struct roce_nic *nic, u64 now)
{
	struct switch_port *port = nic->port;
	const struct switch_maps *maps = &port->config.maps;
	u8 queue = maps->tc_to_queue[maps->dscp_to_tc[port->config.roce.ack_dscp]];
	struct roce_pair *pair;
	struct sk_buff *skb;

	while (roce_credit_next(nic, now) <= now) {
		pair = list_first_entry(&nic->credits.owing, struct roce_pair, credit.owing);
		pace(nic);
		list_del_init(&pair->credit.owing);
		if (--pair->credit.owed)
			list_add_tail(&pair->credit.owing, &nic->credits.owing);
		skb = make_credit(pair);
		if (!skb)
			continue;	/* the next one has its number, too */
		nic->stats.credits_sent++;
		switch_port_enqueue_staged(port, skb, queue, now);
	}
}

void roce_credit_hear(struct roce_pair *pair, u32 given, u64 now)
{
	u32 packets = (given - pair->credit.heard) & ROCE_PSN_MASK;

	/* One that an earlier one has overtaken says nothing new. */
	if (pair->failed || !packets || packets > ROCE_PSN_MASK / 2)
		return;
	pair->credit.heard = given;
	pair->nic->stats.credits_received += packets;
	roce_control_credited(pair, packets);
	roce_pair_turn(pair, now);
}

void roce_credit_drop(struct roce_pair *pair)
{
	list_del_init(&pair->credit.owing);
	pair->credit.owed = 0;
}
