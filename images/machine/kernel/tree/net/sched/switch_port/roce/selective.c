// SPDX-License-Identifier: GPL-2.0
/*
 * Selective repeat: packets behind a gap are kept, and only those that are missing are sent
 * again.
 *
 * As IRN does it (R. Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018,
 * section 3.1): each packet that comes before its turn is answered by a NAK with two
 * numbers, the one that is missing and the one that came. The sender sends those again
 * that are missing before the last one that came, each once; then new ones. One that is
 * lost again is found by the timeout.
 *
 * Where packets of a flow take several paths, they overtake each other. With a distance
 * (`reorder`) a packet is missing only when one behind it by more than that has come, as
 * with TCP's duplicate acknowledgements (RFC 5681, section 3.2). What is told of gaps, and
 * what is kept, is the same.
 *
 * A packet that a switch has trimmed is sent again at once, before all others, and as often
 * as it is trimmed. Those before it may still be on their way, as its header goes ahead of
 * them, or have come, where headers wait, too. So a NIC that knows trimmed packets takes no
 * other order for a loss: what is lost as a whole is found by the timeout.
 */
#include "../switch.h"

static u32 slot(u64 number)
{
	return number % ROCE_SELECTIVE_WINDOW;
}

/* -- The sender ---------------------------------------------------------------------------------- */

/* The first packet that was trimmed and has not been sent again since. */
static u64 first_trimmed(const struct roce_pair *pair)
{
	u64 number = pair->oldest;

	while (!test_bit(slot(number), pair->selective->trimmed))
		number++;
	return number;
}

/* Whether it has come, or has been sent again on its own account. */
static bool is_settled(const struct roce_selective *selective, u64 number)
{
	return test_bit(slot(number), selective->arrived) ||
	       test_bit(slot(number), selective->sent_again);
}

bool roce_selective_next(struct roce_pair *pair, u64 *number)
{
	struct roce_selective *selective = pair->selective;

	if (selective->trims) {
		*number = first_trimmed(pair);
		return true;
	}
	selective->resend = max(selective->resend, pair->oldest);
	while (selective->resend < selective->missing_end &&
	       is_settled(selective, selective->resend))
		selective->resend++;
	*number = selective->resend;
	return selective->resend < selective->missing_end;
}

void roce_selective_trimmed(struct roce_pair *pair, u64 number)
{
	struct roce_selective *selective = pair->selective;

	if (!test_bit(slot(number), selective->arrived) &&
	    !__test_and_set_bit(slot(number), selective->trimmed))
		selective->trims++;
}

static void forget_trimmed(struct roce_selective *selective, u64 number)
{
	if (__test_and_clear_bit(slot(number), selective->trimmed))
		selective->trims--;
}

void roce_selective_sent(struct roce_pair *pair, u64 number)
{
	struct roce_selective *selective = pair->selective;

	if (test_bit(slot(number), selective->trimmed)) {
		forget_trimmed(selective, number);
		set_bit(slot(number), selective->sent_again);
	} else {
		selective->resend = number + 1;
	}
}

void roce_selective_hear(struct roce_pair *pair, u64 missing, u64 got, u64 now)
{
	struct roce_selective *selective = pair->selective;

	/* What has been acknowledged meanwhile, or was never sent, is no news. */
	if (got < pair->oldest || got >= pair->sent)
		return;
	set_bit(slot(got), selective->arrived);
	forget_trimmed(selective, got);
	if (pair->nic->port->config.roce.trimmed)
		return;
	selective->missing_end = max(selective->missing_end,
				     switch_excess(got, pair->nic->port->config.roce.reorder));
	if (missing < selective->recovery_end || missing >= selective->missing_end)
		return;
	selective->recovery_end = pair->next;
	roce_control_lost(pair, now, false);
}

void roce_selective_timed_out(struct roce_pair *pair)
{
	struct roce_selective *selective = pair->selective;

	selective->resend = pair->oldest;
	bitmap_zero(selective->sent_again, ROCE_SELECTIVE_WINDOW);
	/* What has left since the last that the peer told of may be on its way. */
	if (selective->missing_end <= pair->oldest)
		selective->missing_end = pair->next;
	selective->recovery_end = pair->next;
}

void roce_selective_acknowledged(struct roce_pair *pair, u64 before)
{
	struct roce_selective *selective = pair->selective;

	for (; before < pair->oldest; before++) {
		clear_bit(slot(before), selective->arrived);
		clear_bit(slot(before), selective->sent_again);
		forget_trimmed(selective, before);
	}
}

/* -- The receiver -------------------------------------------------------------------------------- */

void roce_selective_keep(struct roce_pair *pair, const struct roce_base *base,
			 const struct roce_arrival *arrival, u64 number)
{
	struct roce_early *early = &pair->selective->early[slot(number)];

	if (number - pair->expected >= ROCE_SELECTIVE_WINDOW)
		return;
	if (early->time_ns) {
		pair->nic->stats.duplicates++;
		return;
	}
	*early = (struct roce_early) {
		.time_ns = arrival->now,
		.bytes = arrival->bytes,
		.opcode = base->opcode,
	};
}

bool roce_selective_has(const struct roce_pair *pair, u64 number)
{
	return number - pair->expected < ROCE_SELECTIVE_WINDOW &&
	       pair->selective->early[slot(number)].time_ns;
}

bool roce_selective_take(struct roce_pair *pair, struct roce_base *base,
			 struct roce_arrival *arrival)
{
	struct roce_early *early = &pair->selective->early[slot(pair->expected)];

	if (!early->time_ns)
		return false;
	base->opcode = early->opcode;
	arrival->bytes = early->bytes;
	arrival->now = early->time_ns;
	early->time_ns = 0;
	return true;
}
