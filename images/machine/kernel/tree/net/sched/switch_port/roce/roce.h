/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host's RoCE NIC: the transport of its queue pairs, which gives its port a frame
 * whenever the line is free for one. All state is the port's: it changes under the chip's
 * lock, at exact times (switch.h).
 *
 * A program's file (device.c) owns its pairs; the NIC knows them while it is there.
 */
#ifndef ROCE_H
#define ROCE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/timerqueue.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <net/roce_control.h>

#include "../line.h"
#include "../uapi/roce.h"
#include "../uapi/switch_port.h"
#include "credit.h"
#include "header.h"

#define ROCE_TTL 64
#define ROCE_HEADERS_BYTES (14 + 20 + 8)	/* Ethernet, IP, UDP */
#define ROCE_SELECTIVE_WINDOW 4096	/* packets: what is remembered of each */
#define ROCE_OPTIONS_MAX 256	/* OWN_OPTIONS_MAX of net/own_qdisc.h, which reads them */
#define ROCE_WINDOW_MAX (1U << 22)		/* packets: numbers of 24 bits stay unambiguous */
#define ROCE_READS_DEFAULT 16		/* what the NICs have that mlx5_ib drives */

struct net_device;
struct roce_program;
struct switch_port;

struct roce_config {
	u32 mtu;		/* 0: no RoCE */
	u32 window;
	u32 ack_every;
	u32 retries;
	u64 timeout_ns;
	u64 notify_ns;
	u8 dscp, ack_dscp, notify_dscp;
	bool selective;		/* selective repeat in place of go-back-N */
	bool trimmed;		/* it knows trimmed packets */
	u8 reads;		/* of a pair that are on their way: max_rd_atomic */
	u16 reorder;		/* packets by which one may be overtaken and not be lost */
	const struct roce_control *control;	/* NULL: none */
	u64 options[ROCE_CONTROL_OPTIONS];	/* of it */
};

/* A message of a send queue; when it is done, it is what the program reads. */
struct roce_message {
	struct list_head list;
	u64 first;		/* its packets' numbers */
	u64 packets;
	u8 opcode;		/* of a FIRST of its operation */
	struct roce_completion completion;
};

/* What a READ of the peer asks for, and how far it is sent. */
struct roce_response {
	struct list_head list;
	u64 first;		/* its packets have the numbers of the request */
	u64 packets, sent;
	u32 bytes;
};

enum roce_turn {
	ROCE_IDLE,		/* nothing to send, or the window is full */
	ROCE_READY,		/* in the NIC's list, in turn */
	ROCE_PACED,		/* in the NIC's queue of times */
};

/* A packet that has come before one that is missing. */
struct roce_early {
	u64 time_ns;		/* of arrival; 0: not here */
	u32 bytes;
	u8 opcode;
};

/* Selective repeat (selective.c): what either end remembers of packets, by their numbers modulo the window. */
struct roce_selective {
	DECLARE_BITMAP(arrived, ROCE_SELECTIVE_WINDOW);	/* that the peer has told of */
	DECLARE_BITMAP(trimmed, ROCE_SELECTIVE_WINDOW);	/* to send again at once; `trims` of them */
	DECLARE_BITMAP(sent_again, ROCE_SELECTIVE_WINDOW);	/* because they were trimmed */
	u32 trims;
	u64 resend;		/* the next to look at: is it missing? */
	u64 missing_end;	/* those missing are before this one */
	u64 recovery_end;	/* a loss before this one is the same as the last */
	struct roce_early early[ROCE_SELECTIVE_WINDOW];	/* of the other way */
};

/* When packets that asked for an acknowledgement left, of a pair whose control wants to know. */
#define ROCE_TIMINGS 64

struct roce_timings {
	u64 packet[ROCE_TIMINGS];
	u64 time_ns[ROCE_TIMINGS];
	u32 first, count;	/* a ring */
};

struct roce_pair {
	struct roce_nic *nic;	/* NULL: gone */
	struct roce_program *program;
	u32 number, peer;
	u8 headers[ROCE_HEADERS_BYTES];	/* of its packets, without lengths, DSCP and checksum */
	bool failed;

	/* What it sends. Packets have numbers of 64 bits here. */
	struct list_head messages;	/* not acknowledged as a whole, or not sent */
	struct roce_message *cursor;	/* that `next` is in; NULL: all is sent */
	u64 next;		/* packet to send */
	u64 oldest;		/* not acknowledged */
	u64 sent;		/* all before it have been sent once */
	u64 end;		/* behind the last message */
	u64 acknowledged_bytes;	/* of whole messages */
	bool writes;		/* it has ever been given a WRITE */
	bool reads;		/* and a READ */
	bool told_missing;	/* it has asked again for the response that it waits for */
	u64 trimmed_response;	/* behind a response that was trimmed; 0: none */
	u32 reads_out;		/* READs before the cursor that are not answered in full */
	u32 unasked;		/* packets since an acknowledgement was asked for */
	u64 asked;		/* it was by the packet before this one; up to `oldest`: by none */
	u32 attempts;		/* timeouts since there was progress */
	enum roce_turn turn;
	struct list_head ready;
	struct timerqueue_node paced;
	struct list_head waiting;	/* for one that was asked for, by `progress_ns` */
	u64 progress_ns;
	struct switch_line line;	/* of its rate */
	u64 last_ns;		/* when it sent the last packet, */
	u64 last_bps;		/* and at which rate the next is paced, unless that has changed */
	u32 last_bytes;
	struct roce_flow flow;	/* its congestion control's */
	u32 window;		/* packets that it lets be unacknowledged */
	struct roce_timings *timings;	/* NULL: nobody wants them */
	struct roce_selective *selective;	/* NULL: go-back-N */
	u64 rtt_ns;		/* the last that was measured; 0: none */
	u32 sent_again;		/* these count for its program */
	u32 timeouts, notifications;
	struct roce_credit credit;

	/* What it receives. */
	u64 expected;		/* packet */
	u64 received_messages, received_bytes;	/* bytes: of the message that is coming in */
	u64 received_first_ns;	/* when its first packet came */
	u32 marks;
	bool told_gap;
	u64 trimmed;		/* behind the packet that it has told it was trimmed, until that comes; 0: none */
	u64 notify_ns;		/* the next notification goes at this time at the earliest */

	/* What it answers. */
	struct list_head responses;	/* to READs, in the order of their numbers */
	bool responded;		/* the packet before was one of them */
	bool owes;		/* an acknowledgement, behind them */
	u32 reads_received;
	u32 reads_answered;
	u64 answered;		/* all before this packet have been sent once */
	u64 answered_bytes;	/* of them, */
	u64 reported_bytes;	/* of which its program has been told */
	u64 answer_first_ns;	/* when the first left of those it has not been told of; 0: none */
};

struct roce_nic {
	struct switch_port *port;
	u32 zeros;		/* the CRC's factor of a full packet */
	struct list_head ready;
	struct timerqueue_head paced;
	struct list_head waiting;
	struct roce_credits credits;
	struct hrtimer timeout;
	struct xarray pairs;
	struct tc_switch_roce_xstats stats;
};

/* A file of /dev/roce, and its pairs. */
struct roce_program {
	struct net *net;
	struct xarray pairs;		/* by number, of all NICs */
	spinlock_t lock;
	struct list_head done;		/* messages to read */
	u32 messages;			/* posted and not read */
	wait_queue_head_t readers;
};

/* Pairs come and go, and NICs go, one at a time. */
extern struct mutex roce_life;

/* -- nic.c: the pairs' turns; what the port asks. Under the chip's lock ------------------------- */

/* Whether a frame of the NIC's is to be sent at `now`; else when that may be, or NEVER. */
u64 roce_nic_next(struct switch_port *port, u64 now);
/* Puts the frame that is to be sent at `now` into its queue, if there is one. */
void roce_nic_stage(struct switch_port *port, u64 now);
/* After any change of what a pair may send. */
void roce_pair_turn(struct roce_pair *pair, u64 now);
void roce_pair_leave(struct roce_pair *pair);
/* There was progress, or the first packet that asks is on its way; or it waits for nothing. */
void roce_pair_wait(struct roce_pair *pair, u64 now);
enum hrtimer_restart roce_nic_timeout(struct hrtimer *timer);
void roce_nic_read_stats(const struct switch_port *port, struct tc_switch_roce_xstats *stats);

/* -- config.c ------------------------------------------------------------------------------------ */

struct switch_change;
struct nlattr;
struct netlink_ext_ack;

/* `tb`: the attributes of the port. */
int roce_parse(struct switch_change *change, struct nlattr **tb);
int roce_dump(const struct switch_port *port, struct sk_buff *skb);
int roce_prepare(struct switch_port *port, const struct roce_config *config,
		 struct netlink_ext_ack *extack);
void roce_nic_destroy(struct switch_port *port);

/* A packet of data that has come. */
struct roce_arrival {
	u64 now;
	u32 bytes;		/* of payload */
	bool marked;
	const u8 *telemetry;	/* NULL: none */
};

/* -- requester.c --------------------------------------------------------------------------------- */

/* Packets that may be on their way. */
u32 roce_pair_window(const struct roce_pair *pair);
bool roce_pair_has_work(struct roce_pair *pair);
/* The next packet, at `now`; NULL: there is no memory, and it is sent at its next turn. */
struct sk_buff *roce_pair_send(struct roce_pair *pair, u64 now);
void roce_pair_post(struct roce_pair *pair, struct roce_message *message);
/* So many packets of the message at the cursor have gone. */
void roce_pair_advance(struct roce_pair *pair, u64 packets);
/* Goes back to a packet that was sent and is not acknowledged. */
void roce_pair_rewind(struct roce_pair *pair, u64 number);
/* All before `number` have arrived, which is beyond the oldest. */
void roce_pair_progress(struct roce_pair *pair, u64 number, u64 now);
/* All before `number` have arrived as far as the peer can tell: what it was to be read may be lost. */
void roce_pair_acknowledge(struct roce_pair *pair, u64 number, u64 now);
/* A packet that asks for an answer goes, the last of those that it is for being `number`. */
void roce_pair_wait_for(struct roce_pair *pair, u64 number, u64 now);
/* A packet has gone: when the next may go; of data it counts. */
void roce_pair_pace(struct roce_pair *pair, const struct sk_buff *skb, u64 now);
void roce_pair_count(struct roce_pair *pair, u32 payload, bool is_again);

struct roce_answer {
	u32 psn;
	u8 syndrome;
	u32 got;	/* of selective repeat: the packet that came in place of a missing one */
};
/* An acknowledgement, or what is missing; `ack`: what else the packet tells. */
void roce_pair_hear(struct roce_pair *pair, const struct roce_answer *answer,
		    struct roce_acknowledgement *ack);
void roce_pair_notified(struct roce_pair *pair, u64 now);
void roce_pair_timed_out(struct roce_pair *pair, u64 now);
/* Ends all its messages. */
void roce_pair_fail(struct roce_pair *pair, u16 status, u64 now);

/* -- selective.c --------------------------------------------------------------------------------- */

/* The packet that is to be sent again next; false: none. */
bool roce_selective_next(struct roce_pair *pair, u64 *number);
/* A packet was trimmed on its way. */
void roce_selective_trimmed(struct roce_pair *pair, u64 number);
/* A missing packet is sent again. */
void roce_selective_sent(struct roce_pair *pair, u64 number);
/* The peer misses `missing` and has got `got`. */
void roce_selective_hear(struct roce_pair *pair, u64 missing, u64 got, u64 now);
void roce_selective_timed_out(struct roce_pair *pair);
/* All before the pair's oldest have arrived, of which `before` was the oldest. */
void roce_selective_acknowledged(struct roce_pair *pair, u64 before);
/* A packet has come before its turn. */
void roce_selective_keep(struct roce_pair *pair, const struct roce_base *base,
			 const struct roce_arrival *arrival, u64 number);
/* Whether a packet has come before its turn. */
bool roce_selective_has(const struct roce_pair *pair, u64 number);
/* The packet whose turn it is, if it came before; it is forgotten. */
bool roce_selective_take(struct roce_pair *pair, struct roce_base *base,
			 struct roce_arrival *arrival);

/* -- responder.c --------------------------------------------------------------------------------- */

void roce_pair_receive(struct roce_pair *pair, const struct roce_base *base,
		       const struct roce_arrival *arrival);
/* A packet came with CE. */
void roce_pair_marked(struct roce_pair *pair, u64 now);
/* A packet came without its payload. */
void roce_pair_trimmed(struct roce_pair *pair, const struct roce_base *base, u64 now);
/* A packet of this number came, and one before it is missing. */
void roce_pair_gap(struct roce_pair *pair, u64 number, u64 now);
struct sk_buff *roce_pair_aeth(struct roce_pair *pair, u64 number, u8 syndrome, u64 got,
			       const u8 *telemetry);

/* -- read.c: READs of this end ------------------------------------------------------------------- */

/* Whether the pair may be given the READ; an error. */
int roce_read_check(const struct roce_pair *pair, const struct roce_message *message);
/* Whether the READ at the cursor may be asked for now. */
bool roce_read_may_go(const struct roce_pair *pair);
/* Its request, of what is missing. */
struct sk_buff *roce_read_request(struct roce_pair *pair, u64 now);
void roce_read_hear(struct roce_pair *pair, const struct roce_base *base,
		    const struct roce_arrival *arrival);
/* A response came without its payload. */
void roce_read_trimmed(struct roce_pair *pair, const struct roce_base *base, u64 now);
/* Up to which packet an acknowledgement of all before `number` goes: the first that is to be read. */
u64 roce_read_limit(const struct roce_pair *pair, u64 number);
/* Something behind the oldest was answered: that is lost. */
void roce_read_missing(struct roce_pair *pair);

/* -- answer.c: READs of the peer ----------------------------------------------------------------- */

/* It asks for `bytes`. */
void roce_pair_asked(struct roce_pair *pair, const struct roce_base *base, u32 bytes,
		     const struct roce_arrival *arrival);
bool roce_pair_answers(const struct roce_pair *pair);
/* The next response, or the acknowledgement behind them. */
struct sk_buff *roce_pair_answer(struct roce_pair *pair, u64 now);
/* Forgets responses that reach beyond `number`. */
void roce_responses_drop(struct roce_pair *pair, u64 number);

/* -- packet.c ------------------------------------------------------------------------------------ */

/* What a frame has behind its base header. */
struct roce_parts {
	const void *extension;
	u32 extension_bytes;
	u32 payload;		/* bytes of zeros, */
	u32 zeros;		/* whose factor for the CRC with the pad is this */
	const u8 *telemetry;	/* that it carries; NULL: none */
};

struct sk_buff *roce_packet(const struct roce_pair *pair, const struct roce_base *base,
			    const struct roce_parts *parts, u8 dscp);
/* Takes a frame that has come in by a device, if it is its NIC's. */
bool roce_receive(struct net_device *dev, struct sk_buff *skb);
/* Gives the port a frame that answers one. */
void roce_answer(struct roce_nic *nic, struct sk_buff *skb, u64 now);

/* -- control.c ----------------------------------------------------------------------------------- */

/* Under RTNL. NULL: there is none of that name. */
const struct roce_control *roce_control_find(const char *name);
/* Reads words and values into a configuration whose control is known. */
int roce_control_parse(struct switch_change *change, const struct nlattr *words);
int roce_control_dump(const struct roce_config *config, struct sk_buff *skb);
/* The control has a pair that comes; -ENOMEM. */
int roce_control_begin(struct roce_pair *pair);
/* Does what is due; when something is next. */
void roce_control_advance(const struct roce_config *config, struct roce_flow *flow, u64 now);
void roce_control_run(struct roce_pair *pair, u64 now);
u64 roce_control_next(const struct roce_pair *pair);
void roce_control_sent(struct roce_pair *pair, u32 bytes);
void roce_control_notified(struct roce_pair *pair, u64 now);
void roce_control_credited(struct roce_pair *pair, u32 packets);
void roce_control_lost(struct roce_pair *pair, u64 now, bool timed_out);
void roce_control_acknowledged(struct roce_pair *pair, struct roce_acknowledgement *ack,
			       u64 number, u64 before);
/* A packet that asks has gone. */
void roce_control_time(struct roce_pair *pair, u64 now);
int roce_controls_register(void);

/* Messages of the peer that have come, of which READs are some. */
static inline u32 roce_pair_received(const struct roce_pair *pair)
{
	return pair->received_messages + pair->reads_received;
}

static inline bool roce_flow_is_limited(const struct roce_flow *flow)
{
	return flow->rate_bps < flow->line_bps;
}

/* -- telemetry.c --------------------------------------------------------------------------------- */

/* A switch's port sends a frame: it writes into it what it has to tell, if it is asked. */
void roce_stamp(struct switch_port *port, int queue, struct sk_buff *skb, u64 now);
int roce_parse_telemetry(struct switch_change *change, const struct nlattr *flag);

/* -- connect.c ----------------------------------------------------------------------------------- */

void roce_pair_free(struct roce_pair *pair);
int roce_connect_pair(struct roce_program *program, const struct roce_connect *connect);

/* -- device.c ------------------------------------------------------------------------------------ */

/* Gives the pair's program a message that is done. */
void roce_complete(struct roce_pair *pair, struct roce_message *message);
/* A message has come in whole. */
void roce_arrived(struct roce_pair *pair, u64 now);
/* A READ has been answered. */
void roce_answered(struct roce_pair *pair, u64 now);
/* The NIC goes: its pairs end. */
void roce_pairs_end(struct roce_nic *nic);
int roce_register(void);

#endif
