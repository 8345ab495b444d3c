// SPDX-License-Identifier: GPL-2.0
/*
 * READs of the peer: this end sends the data, in its turn and at its congestion control's
 * rate, to which the notifications of marked responses come.
 *
 * InfiniBand Architecture Specification, volume 1, 9.4.4 and 9.7.5.1: responses have the
 * numbers that the request takes; those at either end of a READ tell what has arrived, as an
 * acknowledgement does. A request that came before is answered again, from the number that
 * it has now on; what was to be sent behind that is asked for anew, too. Whatever is to be
 * acknowledged meanwhile waits until the responses before it have gone.
 */
#include "../switch.h"

/* -- What is asked for --------------------------------------------------------------------------- */

void roce_responses_drop(struct roce_pair *pair, u64 number)
{
	struct roce_response *response, *next;

	list_for_each_entry_safe(response, next, &pair->responses, list) {
		if (response->first + response->packets <= number)
			continue;
		list_del(&response->list);
		kfree(response);
	}
}

void roce_pair_asked(struct roce_pair *pair, const struct roce_base *base, u32 bytes,
		     const struct roce_arrival *arrival)
{
	u64 number = roce_whole_psn(pair->expected, base->psn);
	struct roce_response *response;

	pair->nic->stats.read_requests_received++;
	if (arrival->marked)
		roce_pair_marked(pair, arrival->now);
	if (pair->failed)
		return;
	if (number > pair->expected) {
		roce_pair_gap(pair, number, arrival->now);
		return;
	}
	response = kzalloc(sizeof(*response), GFP_ATOMIC);
	/* Without memory the request is lost. */
	if (!response)
		return;
	response->first = number;
	response->packets = roce_packets(bytes, pair->nic->port->config.roce.mtu);
	response->bytes = bytes;
	if (number == pair->expected) {
		pair->expected += response->packets;
		pair->told_gap = false;
		pair->reads_received++;
	} else {
		pair->nic->stats.duplicates++;
		roce_responses_drop(pair, number);
	}
	list_add_tail(&response->list, &pair->responses);
	roce_pair_turn(pair, arrival->now);
}

/* -- Answers ------------------------------------------------------------------------------------- */

bool roce_pair_answers(const struct roce_pair *pair)
{
	return pair->owes || !list_empty(&pair->responses);
}

static u32 payload_of(const struct roce_pair *pair, const struct roce_response *response)
{
	u32 mtu = pair->nic->port->config.roce.mtu;

	return min_t(u64, mtu, response->bytes - response->sent * mtu);
}

static struct sk_buff *make_response(struct roce_pair *pair, const struct roce_response *response)
{
	const struct roce_config *config = &pair->nic->port->config.roce;
	u32 payload = payload_of(pair, response);
	struct roce_base base = {
		.opcode = roce_opcode_at(ROCE_READ_FIRST, response->sent, response->packets),
		.pad = roce_pad(payload),
		.pair = pair->peer,
		.psn = (response->first + response->sent) & ROCE_PSN_MASK,
	};
	u8 aeth[ROCE_AETH_BYTES];
	struct roce_parts parts = {
		.extension = aeth,
		.extension_bytes = roce_has_aeth(base.opcode) ? ROCE_AETH_BYTES : 0,
		.payload = payload,
		.zeros = payload == config->mtu ? pair->nic->zeros :
						  roce_crc_zeros(payload + base.pad),
	};

	roce_put_aeth(aeth, ROCE_SYNDROME_ACK, roce_pair_received(pair));
	return roce_packet(pair, &base, &parts, config->dscp);
}

/* A response goes: its program hears of the READ once, when the last has gone for the first time. */
static void note_answer(struct roce_pair *pair, struct roce_response *response, u64 now)
{
	u64 number = response->first + response->sent;
	u32 payload = payload_of(pair, response);
	bool is_again = number < pair->answered;

	roce_pair_count(pair, payload, is_again);
	response->sent++;
	if (is_again)
		return;
	pair->answered = number + 1;
	pair->answered_bytes += payload;
	if (!pair->answer_first_ns)
		pair->answer_first_ns = now;
	if (response->sent == response->packets)
		roce_answered(pair, now);
}

static struct sk_buff *send_owed(struct roce_pair *pair)
{
	struct sk_buff *skb;

	if (pair->told_gap)
		skb = roce_pair_aeth(pair, pair->expected, ROCE_SYNDROME_NAK_SEQUENCE, 0, NULL);
	else
		skb = roce_pair_aeth(pair, pair->expected - 1, ROCE_SYNDROME_ACK, 0, NULL);
	pair->owes = !skb;
	return skb;
}

struct sk_buff *roce_pair_answer(struct roce_pair *pair, u64 now)
{
	struct roce_response *response = list_first_entry_or_null(&pair->responses,
								  struct roce_response, list);
	struct sk_buff *skb;

	if (!response)
		return send_owed(pair);
	skb = make_response(pair, response);
	if (!skb)
		return NULL;
	note_answer(pair, response, now);
	roce_pair_pace(pair, skb, now);
	if (response->sent == response->packets) {
		list_del(&response->list);
		kfree(response);
	}
	return skb;
}
