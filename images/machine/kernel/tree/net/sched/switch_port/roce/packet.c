// SPDX-License-Identifier: GPL-2.0
/*
 * RoCEv2 frames: made, and taken off the device before anything else of the host sees
 * them, as a NIC does that has the transport in hardware.
 */
#include <linux/etherdevice.h>
#include <linux/fabriclab_roce.h>
#include <linux/fabriclab_wires.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "telemetry.h"
#include "../switch.h"

#define BASE_OFFSET (sizeof(struct iphdr) + sizeof(struct udphdr))

DEFINE_STATIC_KEY_FALSE(roce_is_on);

/* -- Made ---------------------------------------------------------------------------------------- */

/* `behind`: bytes behind what UDP's length covers. */
static void finish_headers(struct sk_buff *skb, u8 dscp, u32 behind)
{
	struct iphdr *ip = (struct iphdr *)(skb->data + ETH_HLEN);
	struct udphdr *udp = (struct udphdr *)(ip + 1);

	ip->tos = dscp << 2 | INET_ECN_ECT_0;
	ip->tot_len = htons(skb->len - ETH_HLEN);
	ip->check = 0;
	ip->check = ip_fast_csum((u8 *)ip, ip->ihl);
	udp->len = htons(skb->len - ETH_HLEN - sizeof(*ip) - behind);
}

static void set_offsets(struct sk_buff *skb, struct net_device *dev)
{
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
	switch_set_frame_length(skb);
}

struct sk_buff *roce_packet(const struct roce_pair *pair, const struct roce_base *base,
			    const struct roce_parts *parts, u8 dscp)
{
	u32 headers = ROCE_HEADERS_BYTES + ROCE_BTH_BYTES + parts->extension_bytes;
	u32 length = headers + parts->payload + base->pad + ROCE_ICRC_BYTES;
	u32 behind = parts->telemetry ? ROCE_TELEMETRY_BYTES : 0;
	struct sk_buff *skb = wire_new_frame(length + behind);
	u8 *at;

	if (!skb)
		return NULL;
	at = skb_put(skb, length + behind);
	memcpy(at, pair->headers, ROCE_HEADERS_BYTES);
	roce_put_base(at + ROCE_HEADERS_BYTES, base);
	memcpy(at + ROCE_HEADERS_BYTES + ROCE_BTH_BYTES, parts->extension,
	       parts->extension_bytes);
	memset(at + headers, 0, parts->payload + base->pad);
	if (behind)
		memcpy(at + length, parts->telemetry, behind);
	finish_headers(skb, dscp, behind);
	put_unaligned_le32(roce_icrc(at + ETH_HLEN, headers - ETH_HLEN, parts->zeros),
			   at + length - ROCE_ICRC_BYTES);
	set_offsets(skb, qdisc_dev(pair->nic->port->sch));
	return skb;
}

void roce_answer(struct roce_nic *nic, struct sk_buff *skb, u64 now)
{
	/* Without memory it is lost, as on a bad cable. */
	if (skb && switch_port_enqueue(nic->port, skb, now) != NET_XMIT_SUCCESS)
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
}

/* -- Taken --------------------------------------------------------------------------------------- */

/* Whether it is a RoCEv2 packet with its base header; its data begin with the IP header. */
static bool is_packet(struct sk_buff *skb)
{
	const struct iphdr *ip;
	const struct udphdr *udp;

	if (skb->protocol != htons(ETH_P_IP) ||
	    !pskb_may_pull(skb, BASE_OFFSET + ROCE_BTH_BYTES + ROCE_ICRC_BYTES))
		return false;
	ip = (const struct iphdr *)skb->data;
	udp = (const struct udphdr *)(ip + 1);
	return ip->ihl == 5 && ip->protocol == IPPROTO_UDP && !ip_is_fragment(ip) &&
	       udp->dest == htons(ROCE_PORT) && ntohs(ip->tot_len) <= skb->len &&
	       ntohs(udp->len) >= sizeof(*udp) + ROCE_BTH_BYTES + ROCE_ICRC_BYTES;
}

/* Whether a switch has cut it: UDP's length is that of the whole (trimming.h). */
static bool is_trimmed(const struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	return ntohs(((const struct udphdr *)(ip + 1))->len) > ntohs(ip->tot_len) - sizeof(*ip);
}

/* The pair that it is for, if its peer sent it. */
static struct roce_pair *pair_of(struct roce_nic *nic, const struct roce_base *base,
				 const struct iphdr *ip)
{
	struct roce_pair *pair = xa_load(&nic->pairs, base->pair);
	const struct iphdr *own = pair ? (const struct iphdr *)(pair->headers + ETH_HLEN) : NULL;

	return own && own->daddr == ip->saddr && own->saddr == ip->daddr ? pair : NULL;
}

/* What switches have written behind a packet whose UDP datagram has `length` bytes; NULL: nothing. */
static u8 *telemetry_of(struct sk_buff *skb, u32 length)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	u32 place = sizeof(*ip) + length;
	u32 end = min_t(u32, ntohs(ip->tot_len), skb_headlen(skb));

	return place < end && roce_is_telemetry(skb->data + place, end - place) ?
		       skb->data + place : NULL;
}

/* What is behind the base header that is no data. */
static u32 beside_data(const struct roce_base *base)
{
	return base->pad + (roce_has_reth(base->opcode) ? ROCE_RETH_BYTES : 0) +
	       (roce_has_aeth(base->opcode) ? ROCE_AETH_BYTES : 0);
}

/* Data, or a READ; `at`: what is behind the base header, `rest` bytes before the CRC. */
static void take_data(struct roce_pair *pair, const struct roce_base *base, const u8 *at, u32 rest,
		      struct roce_arrival *arrival)
{
	u32 beside = beside_data(base);

	if (rest < beside)
		return;
	arrival->bytes = rest - beside;
	if (roce_is_data(base->opcode))
		roce_pair_receive(pair, base, arrival);
	else if (base->opcode == ROCE_READ_REQUEST)
		roce_pair_asked(pair, base, roce_get_reth_bytes(at), arrival);
	else
		roce_read_hear(pair, base, arrival);
}

/* `at`: what is behind the base header, `rest` bytes with an AETH at least. */
static void take_acknowledgement(struct roce_pair *pair, const struct roce_base *base, const u8 *at,
				 u32 rest, const u8 *telemetry, struct roce_acknowledgement *ack)
{
	struct roce_answer answer = { .psn = base->psn, .syndrome = at[0], .got = base->psn };
	u32 number;

	if (rest >= ROCE_AETH_BYTES + ROCE_SACK_BYTES)
		answer.got = roce_get_24(at + ROCE_AETH_BYTES + 1);

	ack->hop_count = telemetry ? roce_telemetry_hops(telemetry) : 0;
	for (number = 0; number < ack->hop_count; number++) {
		u64 hop = roce_telemetry_get(telemetry, number);

		ack->hop[number] = (struct roce_hop) {
			.rate_bps = roce_telemetry_hop_rate(hop),
			.queue_bytes = roce_telemetry_hop_queue(hop),
			.time_ns = roce_telemetry_hop_time(hop),
			.sent = roce_telemetry_hop_sent(hop),
		};
	}
	roce_pair_hear(pair, &answer, ack);
}

/* `at`: what is behind the base header, `rest` bytes before the CRC. */
static void take_for(struct roce_pair *pair, const struct roce_base *base, const struct iphdr *ip,
		     const u8 *at, u32 rest, u8 *telemetry, u64 now)
{
	u8 opcode = base->opcode;

	if (roce_is_data(opcode) || roce_is_response(opcode) || opcode == ROCE_READ_REQUEST) {
		struct roce_arrival arrival = {
			.now = now,
			.marked = INET_ECN_is_ce(ip->tos),
			.telemetry = telemetry,
		};

		if (telemetry)
			roce_telemetry_return(telemetry);
		take_data(pair, base, at, rest, &arrival);
	} else if (opcode == ROCE_ACKNOWLEDGE && rest >= ROCE_AETH_BYTES) {
		struct roce_acknowledgement ack = {
			.now = now,
			.routers = ROCE_TTL - min_t(u32, ip->ttl, ROCE_TTL),
		};

		take_acknowledgement(pair, base, at, rest, telemetry, &ack);
	} else if (opcode == ROCE_NOTIFY) {
		roce_pair_notified(pair, now);
	} else if (opcode == ROCE_CREDIT) {
		roce_credit_hear(pair, base->psn, now);
	} else {
		pair->nic->stats.strays++;
	}
}

/* One that a switch has cut. */
static void take_trimmed(struct roce_pair *pair, const struct roce_base *base,
			 const struct iphdr *ip, u64 now)
{
	pair->nic->stats.trimmed_received++;
	if (INET_ECN_is_ce(ip->tos))
		roce_pair_marked(pair, now);
	if (roce_is_data(base->opcode))
		roce_pair_trimmed(pair, base, now);
	else if (roce_is_response(base->opcode))
		roce_read_trimmed(pair, base, now);
}

static void take(struct roce_nic *nic, struct sk_buff *skb, u64 now)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	const u8 *at = skb->data + BASE_OFFSET;
	u32 length = ntohs(((const struct udphdr *)(ip + 1))->len);
	u32 rest = length - sizeof(struct udphdr) - ROCE_BTH_BYTES - ROCE_ICRC_BYTES;
	struct roce_base base;
	struct roce_pair *pair;

	roce_get_base(&base, at);
	pair = pair_of(nic, &base, ip);
	if (pair && is_trimmed(skb))
		take_trimmed(pair, &base, ip, now);
	else if (pair)
		take_for(pair, &base, ip, at + ROCE_BTH_BYTES, rest, telemetry_of(skb, length), now);
	else
		nic->stats.strays++;
}

static bool receive(struct switch_port *port, struct sk_buff *skb)
{
	struct switch_chip *chip = port ? READ_ONCE(port->chip) : NULL;
	bool is_mine;
	u64 now;

	if (!chip || !READ_ONCE(port->roce) || !is_packet(skb) ||
	    (is_trimmed(skb) && !READ_ONCE(port->config.roce.trimmed)))
		return false;
	now = switch_chip_lock(chip);
	is_mine = port->roce;
	if (is_mine) {
		take(port->roce, skb, now);
		switch_port_run(port, now);
		switch_port_sync_stats(port);
	}
	switch_chip_unlock(chip);
	if (is_mine)
		consume_skb(skb);
	return is_mine;
}

bool roce_receive(struct net_device *dev, struct sk_buff *skb)
{
	bool is_taken;

	rcu_read_lock();
	is_taken = receive(switch_port_of_device(dev), skb);
	rcu_read_unlock();
	return is_taken;
}
