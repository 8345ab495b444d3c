/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a qdisc of a user's own may want: its options, and its ECN marks where
 * fabriclab looks for them.
 *
 * A lab says `aqm: {source: ./sch_mine.c, options: "limit 100 target 5ms"}`.
 * The qdisc's init() and change() get one text, `buffer 65536 limit 100 target
 * 5ms`: the bytes of the port's buffer come first, then the lab's own words.
 */
#ifndef _NET_OWN_QDISC_H
#define _NET_OWN_QDISC_H

#include <linux/string.h>
#include <net/gen_stats.h>
#include <net/netlink.h>

#define OWN_OPTIONS_MAX 256

/* A word of the options and where its value goes, which stays as it is where the word is not written. */
struct own_option {
	const char	*word;
	u64		*value;
};

/* A number, or one with a unit: ns, us, ms, s become nanoseconds; B, KB, MB, KiB, MiB bytes. */
static inline int own_option_value(const char *text, u64 *value)
{
	static const struct {
		const char *name;
		u64 factor;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "B", 1 }, { "KB", 1000 },
		{ "MB", 1000000 }, { "KiB", 1024 }, { "MiB", 1048576 },
	};
	char digits[21];
	size_t i, length = strspn(text, "0123456789");
	u64 number;

	if (length == 0 || length >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (kstrtou64(digits, 10, &number))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text + length, units[i].name) == 0)
			return check_mul_overflow(number, units[i].factor,
						  value) ? -ERANGE : 0;
	}
	return -EINVAL;
}

/*
 * Reads pairs of a word and a value; every word must be among `known`. What is
 * wrong is told to who made the qdisc.
 */
static inline int own_options(const struct nlattr *attribute,
			      const struct own_option *known, size_t count,
			      struct netlink_ext_ack *extack)
{
	char text[OWN_OPTIONS_MAX], *rest = text, *word, *value;
	size_t i;

	if (!attribute)
		return 0;
	if (nla_strscpy(text, attribute, sizeof(text)) < 0) {
		NL_SET_ERR_MSG(extack, "the options are too long");
		return -EINVAL;
	}
	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word == '\0')
			continue;
		for (i = 0; i < count; i++)
			if (strcmp(word, known[i].word) == 0)
				break;
		if (i == count) {
			NL_SET_ERR_MSG_FMT(extack, "unknown option: %s", word);
			return -EINVAL;
		}
		value = strsep(&rest, " ");
		if (!value || own_option_value(value, known[i].value)) {
			NL_SET_ERR_MSG_FMT(extack, "no value of %s: %s", word,
					   value ?: "nothing");
			return -EINVAL;
		}
	}
	return 0;
}

/* What a qdisc shows of itself in its dump_stats(): fabriclab's column `marks`. */
struct own_xstats {
	__u32	marks;
};

static inline int own_dump_marks(struct gnet_dump *dump, u32 marks)
{
	struct own_xstats shown = { .marks = marks };

	return gnet_stats_copy_app(dump, &shown, sizeof(shown));
}

#endif
