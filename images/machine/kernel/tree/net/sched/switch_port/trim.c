// SPDX-License-Identifier: GPL-2.0
/*
 * Packet trimming (trimming.h): a frame that its queue has no room for goes on without its
 * payload, by another queue of the port. All of it under the chip's lock.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <net/netlink.h>

#include "change.h"
#include "trim.h"
#include "trimming.h"

/* -- Configuration ----------------------------------------------------------------------------- */

int switch_parse_trimming(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_trimming *trimming;

	if (!attribute)
		return 0;
	trimming = nla_data(attribute);
	if (trimming->size &&
	    (trimming->size < SWITCH_TRIM_LEAST || trimming->size > SWITCH_TRIM_MOST))
		return switch_refuse(change, "a trimmed frame has %d to %d bytes, not %u",
				     SWITCH_TRIM_LEAST, SWITCH_TRIM_MOST, trimming->size);
	if (trimming->dscp > 63)
		return switch_refuse(change, "the DSCP of trimmed frames is 0 to 63, not %u",
				     trimming->dscp);
	if (trimming->queue >= SWITCH_QUEUES && trimming->queue != TC_SWITCH_TRIM_BY_CLASS)
		return switch_refuse(change, "the queue of trimmed frames is 0 to 7, not %u",
				     trimming->queue);
	change->config.trimming = *trimming;
	return 0;
}

int switch_dump_trimming(const struct switch_port *port, struct sk_buff *skb)
{
	const struct tc_switch_trimming *trimming = &port->config.trimming;

	if (!trimming->size)
		return 0;
	return nla_put(skb, TCA_SWITCH_PORT_TRIMMING, sizeof(*trimming), trimming);
}

/* -- Frames ------------------------------------------------------------------------------------ */

/*
 * Bytes of the frame's headers up to the end of IP's, all of which are linear and its own;
 * 0: it has none that a trimmed frame keeps. SONiC trims unicast IP alone.
 */
static u32 switch_headers(struct sk_buff *skb, u32 size)
{
	u32 offset = skb_network_offset(skb), headers;
	__be16 protocol = skb_protocol(skb, true);

	if (is_multicast_ether_addr(skb->data) ||
	    (protocol != htons(ETH_P_IP) && protocol != htons(ETH_P_IPV6)) ||
	    !pskb_may_pull(skb, offset + sizeof(struct iphdr)))
		return 0;
	headers = switch_ip_header_bytes(skb->data + offset);
	if (!headers || offset + headers > min(size, skb->len) ||
	    skb_ensure_writable(skb, offset + headers))
		return 0;
	return offset + headers;
}

/*
 * The transport's checksum is what it is on a line: that of the whole packet. Whoever
 * receives the rest is to look at it, whatever was known of the whole.
 */
static bool switch_cut(struct sk_buff *skb, u32 size)
{
	if (skb->len <= size)
		return true;
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return false;
	if (pskb_trim(skb, size))
		return false;
	skb->ip_summed = CHECKSUM_NONE;
	skb->csum_valid = 0;
	switch_set_frame_length(skb);
	return true;
}

static bool switch_trim_frame(struct sk_buff *skb, const struct tc_switch_trimming *trimming)
{
	u32 offset;

	if (!switch_headers(skb, trimming->size) || !switch_cut(skb, trimming->size))
		return false;
	/* What was cut may have moved. */
	offset = skb_network_offset(skb);
	switch_trim_header(skb->data + offset, skb->len - offset, trimming->dscp);
	return true;
}

/* Its class, group and queue as a trimmed one. */
static void switch_reclassify(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	u8 queue = port->config.trimming.queue;

	switch_classify(port, skb, now);
	if (queue != TC_SWITCH_TRIM_BY_CLASS)
		switch_frame(skb)->queue = queue;
}

/*
 * Trims a frame that was refused for a cause, and admits the rest (TC_SWITCH_DROPS). Else
 * returns the cause: the frame is to be dropped as what it was.
 */
enum tc_switch_drop switch_port_trim(struct switch_port *port, struct sk_buff *skb,
				     enum tc_switch_drop cause, u64 now)
{
	struct switch_frame before = *switch_frame(skb);
	struct tc_switch_queue_xstats *stats = &port->queue[before.queue].stats;
	u32 bytes = qdisc_pkt_len(skb);

	if (!switch_trims_for(cause) || !switch_trim_frame(skb, &port->config.trimming))
		return cause;
	stats->trimmed_packets++;
	stats->trimmed_bytes += bytes - qdisc_pkt_len(skb);
	switch_reclassify(port, skb, now);
	if (switch_port_admit(port, skb) == TC_SWITCH_DROPS)
		return TC_SWITCH_DROPS;
	stats->trimmed_drops++;
	*switch_frame(skb) = before;
	return cause;
}
