// SPDX-License-Identifier: GPL-2.0
/*
 * What a pair sends: messages cut into packets, go-back-N, and its rate.
 *
 * InfiniBand Architecture Specification, volume 1, 9.7 (reliable service): a NAK names the
 * packet that is missing, and all from it on are sent again; so they are from the oldest
 * that is not acknowledged when no acknowledgement has come for the timeout.
 */
#include "telemetry.h"
#include "../switch.h"

u32 roce_pair_window(const struct roce_pair *pair)
{
	return min(pair->nic->port->config.roce.window, pair->window);
}

static bool is_read(const struct roce_message *message)
{
	return message->opcode == ROCE_READ_REQUEST;
}

/* Whether what is next in its messages may go. */
static bool may_send(const struct roce_pair *pair)
{
	if (!pair->cursor || !pair->flow.credit)
		return false;
	return is_read(pair->cursor) ? roce_read_may_go(pair) :
				       pair->next - pair->oldest < roce_pair_window(pair);
}

/* Whether one that is missing may be sent again. */
static bool may_send_again(struct roce_pair *pair, u64 *number)
{
	return pair->selective && pair->flow.credit && roce_selective_next(pair, number);
}

bool roce_pair_has_work(struct roce_pair *pair)
{
	u64 number;

	if (may_send_again(pair, &number))
		return true;
	return may_send(pair) || roce_pair_answers(pair);
}

void roce_pair_post(struct roce_pair *pair, struct roce_message *message)
{
	u64 bytes = message->completion.bytes;

	pair->writes |= roce_begins_write(message->opcode);
	pair->reads |= is_read(message);
	message->first = pair->end;
	message->packets = roce_packets(bytes, pair->nic->port->config.roce.mtu);
	pair->end += message->packets;
	list_add_tail(&message->list, &pair->messages);
	if (!pair->cursor)
		pair->cursor = message;
}

/* -- Sending ------------------------------------------------------------------------------------- */

void roce_pair_advance(struct roce_pair *pair, u64 packets)
{
	struct roce_message *message = pair->cursor;

	pair->next += packets;
	pair->sent = max(pair->sent, pair->next);
	if (pair->next < message->first + message->packets)
		return;
	pair->cursor = list_is_last(&message->list, &pair->messages) ?
			       NULL : list_next_entry(message, list);
}

/* The packet of this number is sent next. */
static void go_to(struct roce_pair *pair, u64 number)
{
	struct roce_message *message;

	pair->next = number;
	pair->cursor = NULL;
	pair->reads_out = 0;
	list_for_each_entry(message, &pair->messages, list) {
		if (number < message->first + message->packets) {
			pair->cursor = message;
			return;
		}
		pair->reads_out += is_read(message);
	}
}

void roce_pair_rewind(struct roce_pair *pair, u64 number)
{
	/* What is sent again asks anew, and nothing is waited for until then. */
	pair->asked = pair->oldest;
	list_del_init(&pair->waiting);
	if (number >= pair->next)
		return;
	go_to(pair, number);
	pair->unasked = 0;
}

static bool asks(struct roce_pair *pair, bool is_last)
{
	const struct roce_config *config = &pair->nic->port->config.roce;
	bool always = (config->control && config->control->has_window) || pair->flow.credit == 1;

	/* Also with the last packet that window or credit let go: nothing else opens them again. */
	if (++pair->unasked < config->ack_every && !is_last && !always &&
	    pair->next + 1 - pair->oldest < roce_pair_window(pair))
		return false;
	pair->unasked = 0;
	return true;
}

static u32 payload_at(const struct roce_pair *pair, const struct roce_message *message, u64 place)
{
	u32 mtu = pair->nic->port->config.roce.mtu;

	return min_t(u64, mtu, message->completion.bytes - place * mtu);
}

void roce_pair_count(struct roce_pair *pair, u32 payload, bool is_again)
{
	struct tc_switch_roce_xstats *stats = &pair->nic->stats;

	stats->sent_packets++;
	stats->sent_bytes += payload;
	if (is_again) {
		stats->sent_again++;
		pair->sent_again++;
	}
}

/* No answer in time is a timeout, counted from the first packet that has none. */
void roce_pair_wait_for(struct roce_pair *pair, u64 number, u64 now)
{
	bool waits = pair->asked > pair->oldest;

	pair->asked = max(pair->asked, number + 1);
	if (!waits)
		roce_pair_wait(pair, now);
}

void roce_pair_pace(struct roce_pair *pair, const struct sk_buff *skb, u64 now)
{
	const struct switch_port *port = pair->nic->port;
	u32 wire_bytes = switch_frame_wire_bytes(port, skb);

	roce_control_sent(pair, wire_bytes);
	pair->last_ns = now;
	pair->last_bytes = wire_bytes;
	pair->last_bps = pair->flow.rate_bps;
	switch_line_send(&pair->line, pair->last_bps, now, wire_bytes);
}

/* A packet of a message, for the wire. */
static struct sk_buff *make_packet(struct roce_pair *pair, struct roce_message *message, u64 place,
				   bool asks)
{
	const struct roce_config *config = &pair->nic->port->config.roce;
	u32 payload = payload_at(pair, message, place);
	struct roce_base base = {
		.opcode = roce_opcode_at(message->opcode, place, message->packets),
		.pad = roce_pad(payload),
		.pair = pair->peer,
		.psn = (message->first + place) & ROCE_PSN_MASK,
		.ack_request = asks,
	};
	u8 extension[ROCE_RETH_BYTES], telemetry[ROCE_TELEMETRY_BYTES];
	struct roce_parts parts = {
		.extension = extension,
		.payload = payload,
		.zeros = payload == config->mtu ? pair->nic->zeros :
						  roce_crc_zeros(payload + base.pad),
	};

	if (roce_begins_write(base.opcode)) {
		roce_put_reth(extension, 0, message->completion.bytes);
		parts.extension_bytes = sizeof(extension);
	}
	if (config->control && config->control->wants_telemetry) {
		memset(telemetry, 0, sizeof(telemetry));
		roce_telemetry_put_header(telemetry, ROCE_TELEMETRY_QUERY);
		parts.telemetry = telemetry;
	}
	return roce_packet(pair, &base, &parts, config->dscp);
}

/* It has gone. */
static void note_sent(struct roce_pair *pair, struct roce_message *message, u64 number,
		      const struct sk_buff *skb, u64 now)
{
	u64 place = number - message->first;

	roce_pair_count(pair, payload_at(pair, message, place), number < pair->sent);
	if (pair->flow.credit != ROCE_ANY_CREDIT)
		pair->flow.credit--;
	if (!place && !message->completion.first_ns)
		message->completion.first_ns = now;
	roce_pair_pace(pair, skb, now);
}

/* One that is missing, of selective repeat. It asks, so that nobody waits for the next that does. */
static struct sk_buff *send_missing(struct roce_pair *pair, u64 number, u64 now)
{
	struct roce_message *message;
	struct sk_buff *skb;

	list_for_each_entry(message, &pair->messages, list)
		if (number < message->first + message->packets)
			break;
	skb = make_packet(pair, message, number - message->first, true);
	if (!skb)
		return NULL;
	note_sent(pair, message, number, skb, now);
	roce_selective_sent(pair, number);
	roce_pair_wait_for(pair, number, now);
	return skb;
}

/* The next packet of a WRITE or a SEND. */
static struct sk_buff *send_next(struct roce_pair *pair, u64 now)
{
	struct roce_message *message = pair->cursor;
	u64 number = pair->next, place = number - message->first;
	struct sk_buff *skb;
	bool ask;

	ask = asks(pair, place == message->packets - 1);
	skb = make_packet(pair, message, place, ask);
	if (!skb)
		return NULL;
	note_sent(pair, message, number, skb, now);
	if (ask)
		roce_control_time(pair, now);
	roce_pair_advance(pair, 1);
	if (ask)
		roce_pair_wait_for(pair, number, now);
	return skb;
}

struct sk_buff *roce_pair_send(struct roce_pair *pair, u64 now)
{
	u64 number;

	if (may_send_again(pair, &number))
		return send_missing(pair, number, now);
	/* Answers to the peer's READs and what it sends itself take turns. */
	pair->responded = roce_pair_answers(pair) && !(pair->responded && may_send(pair));
	if (pair->responded)
		return roce_pair_answer(pair, now);
	return is_read(pair->cursor) ? roce_read_request(pair, now) : send_next(pair, now);
}

/* -- Acknowledgements ---------------------------------------------------------------------------- */

void roce_pair_acknowledge(struct roce_pair *pair, u64 number, u64 now)
{
	if (pair->reads)
		number = roce_read_limit(pair, number);
	if (number > pair->oldest)
		roce_pair_progress(pair, number, now);
}

void roce_pair_progress(struct roce_pair *pair, u64 number, u64 now)
{
	struct roce_message *message, *next;
	u64 before = pair->oldest;

	pair->oldest = number;
	if (pair->selective)
		roce_selective_acknowledged(pair, before);
	pair->attempts = 0;
	/* They were acknowledged while they were to be sent again. */
	if (pair->next < number)
		go_to(pair, number);
	list_for_each_entry_safe(message, next, &pair->messages, list) {
		if (message->first + message->packets > number)
			break;
		list_del(&message->list);
		message->completion.time_ns = now;
		if (is_read(message))
			pair->reads_out--;
		else
			pair->acknowledged_bytes += message->completion.bytes;
		roce_complete(pair, message);
	}
	roce_pair_wait(pair, now);
}

/* A packet is missing. */
static void hear_gap(struct roce_pair *pair, const struct roce_answer *answer, u64 number, u64 now)
{
	pair->nic->stats.naks_received++;
	if (number < pair->oldest)
		return;
	roce_pair_acknowledge(pair, number, now);
	if (pair->selective) {
		roce_selective_hear(pair, number, roce_whole_psn(number, answer->got), now);
		return;
	}
	roce_control_lost(pair, now, false);
	roce_pair_rewind(pair, pair->oldest);
}

/* A packet was trimmed; those before it may still be on their way. */
static void hear_trimmed(struct roce_pair *pair, u64 number, u64 now)
{
	pair->nic->stats.naks_received++;
	if (number < pair->oldest)
		return;
	roce_control_lost(pair, now, false);
	if (pair->selective)
		roce_selective_trimmed(pair, number);
	else
		roce_pair_rewind(pair, number);
}

/* An answer has come. */
void roce_pair_hear(struct roce_pair *pair, const struct roce_answer *answer,
		    struct roce_acknowledgement *ack)
{
	u64 before = pair->oldest, number = roce_whole_psn(before, answer->psn);
	u64 now = ack->now;

	/* Not of what was sent: nobody's. */
	if (pair->failed || number >= pair->sent)
		return;
	if (answer->syndrome == ROCE_SYNDROME_NAK_SEQUENCE) {
		hear_gap(pair, answer, number, now);
	} else if (answer->syndrome == ROCE_SYNDROME_NAK_TRIMMED) {
		hear_trimmed(pair, number, now);
	} else {
		pair->nic->stats.acks_received++;
		roce_pair_acknowledge(pair, number + 1, now);
		if (pair->oldest <= number)
			roce_read_missing(pair);
		roce_control_acknowledged(pair, ack, min(number + 1, pair->oldest), before);
	}
	roce_pair_turn(pair, now);
}

void roce_pair_timed_out(struct roce_pair *pair, u64 now)
{
	pair->nic->stats.timeouts++;
	pair->timeouts++;
	if (++pair->attempts > pair->nic->port->config.roce.retries) {
		roce_pair_fail(pair, ROCE_RETRIES_EXCEEDED, now);
		return;
	}
	roce_control_lost(pair, now, true);
	if (pair->selective) {
		pair->asked = pair->oldest;
		roce_selective_timed_out(pair);
	} else {
		roce_pair_rewind(pair, pair->oldest);
		pair->told_missing = false;
	}
	roce_pair_wait(pair, now);
	roce_pair_turn(pair, now);
}

void roce_pair_fail(struct roce_pair *pair, u16 status, u64 now)
{
	struct roce_message *message, *next;

	pair->failed = true;
	pair->cursor = NULL;
	roce_responses_drop(pair, 0);
	roce_pair_leave(pair);
	roce_credit_drop(pair);
	list_del_init(&pair->waiting);
	list_for_each_entry_safe(message, next, &pair->messages, list) {
		list_del(&message->list);
		message->completion.time_ns = now;
		message->completion.status = status;
		roce_complete(pair, message);
		/* Those behind the first have failed with it. */
		status = ROCE_FLUSHED;
	}
	pair->oldest = pair->next = pair->end;
	if (pair->selective) {
		pair->selective->missing_end = 0;
		pair->selective->trims = 0;
	}
}

/* -- The rate ------------------------------------------------------------------------------------ */

/* A switch has marked what this pair sends. */
void roce_pair_notified(struct roce_pair *pair, u64 now)
{
	pair->nic->stats.notifications_received++;
	pair->notifications++;
	if (pair->failed)
		return;
	roce_control_notified(pair, now);
	roce_pair_turn(pair, now);
}
