/* SPDX-License-Identifier: MIT */
/*
 * The filters of an AutoLogger's provider: the values of its subkey "Filters", one filter each. A value's name is the
 * filter's type, as in EVENT_FILTER_TYPE_* or as a number. Microsoft does not describe the subkey: that types name the
 * values is known from newer Windows, the forms of the values are this project's.
 * Source: man/etw-autologger.5.
 */
#ifndef ETW_AUTOLOGGER_FILTERS_H
#define ETW_AUTOLOGGER_FILTERS_H

#include <stddef.h>
#include <stdint.h>

/* In the form of wire/filter_list.h. */
struct etw_autologger_filters {
	uint8_t *list; /* owned; NULL: none */
	size_t bytes;
};

/*
 * etw_autologger_filters_add() - one more, by the text of its line.
 *
 * @ret_sentence: why not; static
 *
 * Returns 0; -EINVAL: there is no such type, or its value is not understood, too large, or there already; -EOPNOTSUPP: a
 * type that is not built; -ENOMEM. Then @filters are what they were.
 */
int etw_autologger_filters_add(struct etw_autologger_filters *filters, const char *name,
			       const char *value, const char **ret_sentence);

/* etw_autologger_filters_done() - frees what it owns; harmless on one that is done. */
void etw_autologger_filters_done(struct etw_autologger_filters *filters);

#endif
