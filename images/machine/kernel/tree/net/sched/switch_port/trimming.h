/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet trimming: which packets are trimmed, and what becomes of their headers.
 *
 * SONiC and SAI (SAI_SWITCH_ATTR_PACKET_TRIM_SIZE): a packet that its queue has no room for
 * keeps its first bytes, gets another DSCP, and tries another queue. A packet that is not
 * longer than that only gets the DSCP. IP's length and checksum are those of what remains;
 * those of the transport stay, so that a receiver sees that the packet was trimmed. (The
 * reviewers of SAI's pull request 2077 say so for the Ultra Ethernet Consortium; NVIDIA's
 * Spectrum leaves IP's length, too.)
 */
#ifndef SWITCH_TRIMMING_H
#define SWITCH_TRIMMING_H

#include "shim.h"
#include "uapi/switch_port.h"

#define SWITCH_TRIM_LEAST 64		/* bytes of a frame */
#define SWITCH_TRIM_MOST 65535
#define SWITCH_IPV6_HEADER 40

/* Whether what is dropped for this cause is trimmed: there was no room for it. */
static inline bool switch_trims_for(enum tc_switch_drop cause)
{
	return cause == TC_SWITCH_DROP_QUEUE_LIMIT || cause == TC_SWITCH_DROP_QUEUE_POOL ||
	       cause == TC_SWITCH_DROP_INGRESS || cause == TC_SWITCH_DROP_VOQ;
}

/* Of an IP header: its bytes; 0: it is none. */
static inline u32 switch_ip_header_bytes(const u8 *ip)
{
	u32 bytes = (ip[0] & 0xf) * 4;

	if (ip[0] >> 4 == 4)
		return bytes >= 20 ? bytes : 0;
	return ip[0] >> 4 == 6 ? SWITCH_IPV6_HEADER : 0;
}

static inline void switch_put_16(u8 *at, u32 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline u32 switch_get_16(const u8 *at)
{
	return (u32)at[0] << 8 | at[1];
}

/* RFC 1071 over a header of whole words. */
static inline u32 switch_ip_checksum(const u8 *ip, u32 bytes)
{
	u32 sum = 0, at;

	for (at = 0; at < bytes; at += 2)
		sum += switch_get_16(ip + at);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static inline void switch_trim_ipv4(u8 *ip, u32 left, u8 dscp)
{
	ip[1] = dscp << 2 | (ip[1] & 3);
	if (left < switch_get_16(ip + 2))
		switch_put_16(ip + 2, left);
	switch_put_16(ip + 10, 0);
	switch_put_16(ip + 10, switch_ip_checksum(ip, switch_ip_header_bytes(ip)));
}

static inline void switch_trim_ipv6(u8 *ip, u32 left, u8 dscp)
{
	ip[0] = 0x60 | dscp >> 2;
	ip[1] = (dscp & 3) << 6 | (ip[1] & 0x3f);
	if (left - SWITCH_IPV6_HEADER < switch_get_16(ip + 4))
		switch_put_16(ip + 4, left - SWITCH_IPV6_HEADER);
}

/* Makes the header at `ip` that of a packet of which `left` bytes, with all of the header, are left. */
static inline void switch_trim_header(u8 *ip, u32 left, u8 dscp)
{
	if (ip[0] >> 4 == 4)
		switch_trim_ipv4(ip, left, dscp);
	else
		switch_trim_ipv6(ip, left, dscp);
}

#endif
