// SPDX-License-Identifier: GPL-2.0
/*
 * What a pair receives: data in sequence, acknowledgements of it, and notifications of
 * marks (DCQCN's notification point).
 *
 * InfiniBand Architecture Specification, volume 1, 9.7.5: a packet behind a gap is
 * answered by one NAK for the packet that is missing, and dropped; a packet that was
 * received before is acknowledged again.
 */
#include "dcqcn.h"
#include "../switch.h"

/* `telemetry`: of the packet that it answers; NULL: none. `got`: of selective repeat; 0: none. */
struct sk_buff *roce_pair_aeth(struct roce_pair *pair, u64 number, u8 syndrome, u64 got,
			       const u8 *telemetry)
{
	struct roce_nic *nic = pair->nic;
	struct roce_base base = {
		.opcode = ROCE_ACKNOWLEDGE,
		.pair = pair->peer,
		.psn = number & ROCE_PSN_MASK,
	};
	u8 aeth[ROCE_AETH_BYTES + ROCE_SACK_BYTES] = {};
	struct roce_parts parts = {
		.extension = aeth,
		.extension_bytes = ROCE_AETH_BYTES + (got ? ROCE_SACK_BYTES : 0),
		.zeros = ROCE_CRC_ONE,
		.telemetry = telemetry,
	};

	roce_put_aeth(aeth, syndrome, roce_pair_received(pair));
	roce_put_24(aeth + ROCE_AETH_BYTES + 1, got & ROCE_PSN_MASK);
	if (syndrome == ROCE_SYNDROME_ACK)
		nic->stats.acks_sent++;
	else
		nic->stats.naks_sent++;
	return roce_packet(pair, &base, &parts, nic->port->config.roce.ack_dscp);
}

static void send_aeth(struct roce_pair *pair, u64 number, u8 syndrome, u64 got,
		      const u8 *telemetry, u64 now)
{
	/* It would tell the peer that responses before it are lost. */
	if (!list_empty(&pair->responses)) {
		pair->owes = true;
		return;
	}
	roce_answer(pair->nic, roce_pair_aeth(pair, number, syndrome, got, telemetry), now);
}

static void send_notification(struct roce_pair *pair, u64 now)
{
	struct roce_nic *nic = pair->nic;
	struct roce_base base = {
		.opcode = ROCE_NOTIFY,
		.pair = pair->peer,
	};
	struct roce_parts parts = {
		.payload = ROCE_CNP_BYTES,
		.zeros = roce_crc_zeros(ROCE_CNP_BYTES),
	};

	nic->stats.notifications_sent++;
	roce_answer(nic, roce_packet(pair, &base, &parts, nic->port->config.roce.notify_dscp), now);
}

/* The packet whose turn it is has come, at `arrival->now`; it is taken at `now`. */
static void take(struct roce_pair *pair, const struct roce_base *base,
		 const struct roce_arrival *arrival, u64 now)
{
	if (roce_begins_message(base->opcode))
		pair->received_first_ns = arrival->now;
	pair->expected++;
	pair->told_gap = false;
	pair->nic->stats.received_packets++;
	pair->nic->stats.received_bytes += arrival->bytes;
	pair->received_bytes += arrival->bytes;
	if (!roce_ends_message(base->opcode))
		return;
	roce_arrived(pair, now);
	pair->received_messages++;
	pair->received_bytes = 0;
}

void roce_pair_marked(struct roce_pair *pair, u64 now)
{
	struct roce_nic *nic = pair->nic;
	const struct roce_config *config = &nic->port->config.roce;

	nic->stats.ce_received++;
	pair->marks++;
	if (config->control && config->control->wants_notifications &&
	    roce_notifies(&pair->notify_ns, config->notify_ns, now))
		send_notification(pair, now);
}

void roce_pair_gap(struct roce_pair *pair, u64 number, u64 now)
{
	pair->nic->stats.out_of_sequence++;
	if (pair->selective)
		send_aeth(pair, pair->expected, ROCE_SYNDROME_NAK_SEQUENCE, number, NULL, now);
	else if (!pair->told_gap && pair->expected + 1 != pair->trimmed)
		send_aeth(pair, pair->expected, ROCE_SYNDROME_NAK_SEQUENCE, 0, NULL, now);
	pair->told_gap = true;
}

/*
 * Go-back-N: the peer sends all from a trimmed packet on again, so it is told of none behind
 * that until it has come; but of that one as often as it is trimmed.
 */
static bool is_told(const struct roce_pair *pair, u64 number)
{
	return !pair->selective && pair->trimmed > pair->expected && number >= pair->trimmed;
}

void roce_pair_trimmed(struct roce_pair *pair, const struct roce_base *base, u64 now)
{
	u64 number = roce_whole_psn(pair->expected, base->psn);

	roce_credit_owe(pair, now);
	if (number < pair->expected) {
		pair->nic->stats.duplicates++;
		send_aeth(pair, pair->expected - 1, ROCE_SYNDROME_ACK, 0, NULL, now);
		return;
	}
	if ((pair->selective && roce_selective_has(pair, number)) || is_told(pair, number))
		return;
	pair->trimmed = number + 1;
	send_aeth(pair, number, ROCE_SYNDROME_NAK_TRIMMED, 0, NULL, now);
}

/* Those that came before their turn; whether there were any. */
static bool take_early(struct roce_pair *pair, u64 now)
{
	struct roce_arrival early;
	struct roce_base base;
	bool any = false;

	while (pair->selective && roce_selective_take(pair, &base, &early)) {
		take(pair, &base, &early, now);
		any = true;
	}
	return any;
}

void roce_pair_receive(struct roce_pair *pair, const struct roce_base *base,
		       const struct roce_arrival *arrival)
{
	u64 number = roce_whole_psn(pair->expected, base->psn), now = arrival->now;
	bool fills = false;

	roce_credit_owe(pair, now);
	if (arrival->marked)
		roce_pair_marked(pair, now);
	if (number > pair->expected) {
		if (pair->selective)
			roce_selective_keep(pair, base, arrival, number);
		roce_pair_gap(pair, number, now);
		return;
	}
	if (number == pair->expected) {
		take(pair, base, arrival, now);
		fills = take_early(pair, now);
	} else {
		pair->nic->stats.duplicates++;
	}
	if (base->ack_request || fills)
		send_aeth(pair, pair->expected - 1, ROCE_SYNDROME_ACK, 0, arrival->telemetry, now);
}
