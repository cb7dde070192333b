/* SPDX-License-Identifier: MIT */
/* Symbols that several things of the file have: the header can give such a name to one of them only. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "compile/read_internal.h"

#define SYMBOL_OF_HEADER (SYMBOL_KINDS * 6)

/* Who has a symbol. */
struct holder {
	const struct mc_provider *provider;
	const struct etw_xml_element *element;
};

static int claim(struct mc_reader *reader, const struct etw_xml_element *element,
		 const char *symbol)
{
	const struct holder *other;
	struct holder *own;

	if (!symbol || !element)
		return 0;
	other = etw_compile_find(reader, SYMBOL_OF_HEADER, NULL, symbol);
	if (!other) {
		own = etw_compile_new(reader, sizeof(*own));
		if (!own)
			return -ENOMEM;
		*own = (struct holder){reader->provider, element};
		return etw_compile_claim(reader, element, SYMBOL_OF_HEADER, NULL, symbol, own,
					 "symbol");
	}
	/* Two of one kind and provider, and two providers, are an error and have been complained of. */
	if (strcmp(other->element->name, element->name) == 0 &&
	    (other->provider == reader->provider || element == reader->provider->element))
		return 0;
	return etw_compile_warn(reader, element,
				"the symbol %s is that of <%s> in line %llu too, which keeps it in "
				"the header",
				symbol, other->element->name,
				(unsigned long long)other->element->line);
}

static int claim_names(struct mc_reader *reader, const struct mc_names *names)
{
	for (const struct mc_name *at = names->first; at; at = at->next)
		TRY(claim(reader, at->element, at->symbol));
	return 0;
}

/* In the order of the header. */
int etw_compile_check_symbols(struct mc_reader *reader)
{
	const struct mc_provider *provider = reader->provider;

	TRY(claim(reader, provider->element, etw_compile_attribute_symbol(provider->element)));
	for (const struct mc_channel *at = provider->channels; at; at = at->next)
		TRY(claim(reader, at->element, at->symbol));
	TRY(claim_names(reader, &provider->levels));
	TRY(claim_names(reader, &provider->opcodes));
	TRY(claim_names(reader, &provider->tasks));
	TRY(claim_names(reader, &provider->keywords));
	for (const struct mc_event *at = provider->events; at; at = at->next)
		TRY(claim(reader, at->element, etw_compile_attribute_symbol(at->element)));
	return 0;
}
