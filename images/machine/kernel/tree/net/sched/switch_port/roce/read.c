// SPDX-License-Identifier: GPL-2.0
/*
 * READs that a pair has been given: the peer sends the data, and this end asks again for
 * what does not come.
 *
 * InfiniBand Architecture Specification, volume 1, 9.4.4 and 9.7.3: a READ takes as many
 * packet numbers as its responses have packets, and the request has the first of them. A
 * response acknowledges all before it, and so no response is acknowledged itself. When one
 * is missing (a later response came, or an acknowledgement of what was sent after the READ:
 * an implied NAK), a new request asks for the rest of the READ.
 */
#include "../switch.h"

int roce_read_check(const struct roce_pair *pair, const struct roce_message *message)
{
	if (message->opcode != ROCE_READ_REQUEST)
		return 0;
	/* What IRN adds to READs, acknowledgements of responses, is not here. */
	if (pair->selective)
		return -EOPNOTSUPP;
	return roce_packets(message->completion.bytes, pair->nic->port->config.roce.mtu) >
		       ROCE_WINDOW_MAX ? -EMSGSIZE : 0;
}

/* -- Asking -------------------------------------------------------------------------------------- */

static u64 end_of(const struct roce_message *message)
{
	return message->first + message->packets;
}

/* One that the window has no room for goes alone. */
bool roce_read_may_go(const struct roce_pair *pair)
{
	return pair->reads_out < pair->nic->port->config.roce.reads &&
	       (pair->next == pair->oldest ||
		end_of(pair->cursor) - pair->oldest <= roce_pair_window(pair));
}

static void note_asked(struct roce_pair *pair, u64 now)
{
	pair->nic->stats.read_requests_sent++;
	pair->sent_again += pair->next < pair->sent;
	pair->reads_out++;
	roce_pair_advance(pair, end_of(pair->cursor) - pair->next);
	roce_pair_wait_for(pair, pair->next - 1, now);
}

struct sk_buff *roce_read_request(struct roce_pair *pair, u64 now)
{
	const struct roce_config *config = &pair->nic->port->config.roce;
	struct roce_message *message = pair->cursor;
	u64 read = (pair->next - message->first) * config->mtu;
	struct roce_base base = {
		.opcode = ROCE_READ_REQUEST,
		.pair = pair->peer,
		.psn = pair->next & ROCE_PSN_MASK,
	};
	u8 extension[ROCE_RETH_BYTES];
	struct roce_parts parts = {
		.extension = extension,
		.extension_bytes = sizeof(extension),
		.zeros = ROCE_CRC_ONE,
	};
	struct sk_buff *skb;

	roce_put_reth(extension, read, message->completion.bytes - read);
	skb = roce_packet(pair, &base, &parts, config->dscp);
	if (!skb)
		return NULL;
	roce_pair_pace(pair, skb, now);
	note_asked(pair, now);
	return skb;
}

/* -- What comes ---------------------------------------------------------------------------------- */

u64 roce_read_limit(const struct roce_pair *pair, u64 number)
{
	const struct roce_message *message;

	list_for_each_entry(message, &pair->messages, list) {
		if (message->first >= number)
			break;
		if (message->opcode == ROCE_READ_REQUEST)
			return max(message->first, pair->oldest);
	}
	return number;
}

/* Once for each gap: what is on its way already comes behind it, and says the same. */
void roce_read_missing(struct roce_pair *pair)
{
	if (pair->told_missing)
		return;
	pair->told_missing = true;
	pair->nic->stats.implied_naks++;
	roce_pair_rewind(pair, pair->oldest);
}

/* The READ whose response is waited for; NULL: none is. */
static struct roce_message *awaited(const struct roce_pair *pair)
{
	struct roce_message *first = list_first_entry_or_null(&pair->messages, struct roce_message,
							      list);

	return first && first->opcode == ROCE_READ_REQUEST && pair->oldest < pair->sent ? first :
											  NULL;
}

static void take(struct roce_pair *pair, const struct roce_arrival *arrival)
{
	struct roce_message *message = awaited(pair);

	if (!message) {
		pair->nic->stats.strays++;
		return;
	}
	pair->nic->stats.received_packets++;
	pair->nic->stats.received_bytes += arrival->bytes;
	if (!message->completion.first_ns)
		message->completion.first_ns = arrival->now;
	pair->told_missing = false;
	roce_pair_progress(pair, pair->oldest + 1, arrival->now);
	if (pair->oldest + 1 == pair->trimmed_response)
		roce_read_missing(pair);
}

/* Once those before it have come, it is the one that is missing. */
void roce_read_trimmed(struct roce_pair *pair, const struct roce_base *base, u64 now)
{
	u64 number = roce_whole_psn(pair->oldest, base->psn);

	if (pair->failed || number < pair->oldest || number >= pair->sent)
		return;
	if (pair->trimmed_response > pair->oldest && number >= pair->trimmed_response)
		return;
	pair->trimmed_response = number + 1;
	if (number > pair->oldest)
		return;
	pair->told_missing = false;
	roce_read_missing(pair);
	roce_pair_turn(pair, now);
}

void roce_read_hear(struct roce_pair *pair, const struct roce_base *base,
		    const struct roce_arrival *arrival)
{
	u64 number = roce_whole_psn(pair->oldest, base->psn);

	if (arrival->marked)
		roce_pair_marked(pair, arrival->now);
	if (pair->failed || number >= pair->sent)
		return;
	roce_pair_acknowledge(pair, number, arrival->now);
	if (number < pair->oldest) {
		pair->nic->stats.duplicates++;
	} else if (number > pair->oldest) {
		pair->nic->stats.out_of_sequence++;
		roce_read_missing(pair);
	} else {
		take(pair, arrival);
	}
	roce_pair_turn(pair, arrival->now);
}
