/* SPDX-License-Identifier: GPL-2.0 */
/* One-way delays of segments, measured at the receiver and told to the sender.
 *
 * A sender whose congestion control takes delays (TCP_CONG_DELAYS) stamps its
 * segments where a NIC's stamp of transmission stands (skb_shared_hwtstamps):
 * TCP with the time at which it hands a segment down, and a NIC (the qdisc
 * switch_port) with that at which the first bit leaves. All nodes are of one
 * machine and have one clock, so arrival less stamp is the delay, exactly.
 *
 * A receiver tells the mean over the full segments since its last pure
 * acknowledgement by an experimental option (RFC 6994): kind 254, length 10,
 * "DX", how many, nanoseconds.
 */
#ifndef _TCP_DELAY_H
#define _TCP_DELAY_H

#include <linux/random.h>
#include <linux/unaligned.h>
#include <net/tcp.h>

#define TCPOPT_DELAY_MAGIC	0x4458
#define TCPOLEN_DELAY		10
#define TCPOLEN_DELAY_ALIGNED	12

static inline bool tcp_takes_delays(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_ops->flags & TCP_CONG_DELAYS;
}

/* The sender's: stamps what it transmits. */
static inline void tcp_delay_stamp(const struct sock *sk, struct sk_buff *skb)
{
	if (unlikely(tcp_takes_delays(sk)))
		skb_hwtstamps(skb)->hwtstamp = ktime_get();
}

/* How far a measurement is off (net.ipv4.tcp_delay_error_ns): anything between. */
static inline s64 tcp_delay_error(const struct sock *sk)
{
	u32 most = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_delay_error_ns);

	return most ? (s64)get_random_u32_inclusive(0, 2 * most) - most : 0;
}

/* The receiver's: what it measures of data. A shorter segment is sooner there. */
static inline void tcp_delay_measure(struct sock *sk, struct sk_buff *skb)
{
	ktime_t sent = skb_hwtstamps(skb)->hwtstamp;
	struct tcp_sock *tp = tcp_sk(sk);

	if (likely(!sent) || skb->len < inet_csk(sk)->icsk_ack.rcv_mss)
		return;
	tp->delay.sum_ns += max_t(s64, ktime_get() - sent + tcp_delay_error(sk), 0);
	tp->delay.count++;
}

/* Whether there is something to tell by a pure acknowledgement. */
static inline bool tcp_delay_tells(const struct tcp_sock *tp, const struct sk_buff *skb)
{
	return unlikely(tp->delay.count) && skb && !skb->len;
}

static inline __be32 *tcp_delay_write(__be32 *ptr, struct tcp_sock *tp)
{
	u64 mean = div_u64(tp->delay.sum_ns, tp->delay.count);

	*ptr++ = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | (TCPOPT_EXP << 8) |
		       TCPOLEN_DELAY);
	*ptr++ = htonl((TCPOPT_DELAY_MAGIC << 16) | min(tp->delay.count, 0xffffU));
	*ptr++ = htonl(min_t(u64, mean, U32_MAX));
	tp->delay.sum_ns = 0;
	tp->delay.count = 0;
	return ptr;
}

/* The sender's: what an acknowledgement tells, in tp->delay. */
static inline void tcp_delay_read(struct sock *sk, const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	const u8 *ptr = (const u8 *)(th + 1);
	const u8 *end = (const u8 *)th + th->doff * 4;
	struct tcp_sock *tp = tcp_sk(sk);

	tp->delay.told = 0;
	while (ptr + 2 <= end && *ptr != TCPOPT_EOL) {
		if (*ptr == TCPOPT_NOP) {
			ptr++;
			continue;
		}
		if (ptr[1] < 2 || ptr + ptr[1] > end)
			return;
		if (*ptr == TCPOPT_EXP && ptr[1] == TCPOLEN_DELAY &&
		    get_unaligned_be16(ptr + 2) == TCPOPT_DELAY_MAGIC) {
			tp->delay.told = get_unaligned_be16(ptr + 4);
			tp->delay.told_ns = get_unaligned_be32(ptr + 6);
			return;
		}
		ptr += ptr[1];
	}
}

#endif
