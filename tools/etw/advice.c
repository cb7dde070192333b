/* SPDX-License-Identifier: MIT */
#include "tools/etw/advice.h"

#include <string.h>

#include "tools/common/number.h"
#include "tools/common/shell_word.h"

/* What keeps a provider's events from decoding; the commonest decides. */
enum need {
	NEED_NOTHING,
	NEED_MANIFEST,
	NEED_NEWER_MANIFEST,
	NEED_CLASS,
	NEED_WPP,
	NEED_BETTER_BYTES,
	NEED_FEWER_KINDS,
	NEED_FITTING_SCHEMA,
	NEEDS,
};

static enum need need_of(const struct tally_provider *provider)
{
	const uint64_t counts[NEEDS] = {
		[NEED_MANIFEST] = provider->misses[ETW_SCHEMA_NO_PROVIDER],
		[NEED_NEWER_MANIFEST] = provider->misses[ETW_SCHEMA_NO_EVENT],
		[NEED_CLASS] = provider->misses[ETW_SCHEMA_NO_CLASS],
		[NEED_WPP] = provider->misses[ETW_SCHEMA_WPP],
		[NEED_BETTER_BYTES] = provider->misses[ETW_SCHEMA_BAD_METADATA],
		[NEED_FEWER_KINDS] = provider->misses[ETW_SCHEMA_TOO_MANY],
		[NEED_FITTING_SCHEMA] = provider->statuses[ETW_DECODE_EXTRA] +
					provider->statuses[ETW_DECODE_TRUNCATED] +
					provider->statuses[ETW_DECODE_MALFORMED],
	};
	enum need need = NEED_NOTHING;

	for (unsigned i = 0; i < NEEDS; i++) {
		if (counts[i] > counts[need])
			need = (enum need)i;
	}
	return need;
}

/* Events that could tell more than they do; those that carry manifests have done their work. */
static uint64_t count_open(const struct tally_provider *provider)
{
	return provider->count - provider->statuses[ETW_DECODE_COMPLETE] - provider->carriers;
}

static void put_command(struct etw_text *text, const struct tally_provider *provider,
			const struct etw_inputs *inputs)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};

	if (provider->name)
		tally_provider_write(&name, provider);
	etw_text_puts(&name, provider->name ? ".man" : "FILE.man");
	etw_text_puts(text, "      etw summary --manifest ");
	etw_shell_word(text, etw_text_string(&name));
	for (size_t i = 0; i < inputs->count; i++) {
		etw_text_putc(text, ' ');
		etw_shell_word(text, inputs->paths[i] == inputs->stream ? "-" : inputs->paths[i]);
	}
	etw_text_puts(text, "\n    or, once for all traces on this machine,\n      wevtutil im ");
	etw_shell_word(text, etw_text_string(&name));
	etw_text_putc(text, '\n');
}

/* Where a manifest comes from. */
static void put_source(struct etw_text *text, const struct tally_provider *provider)
{
	if (!provider->name) {
		etw_text_puts(text, ", or a trace merged\n    on its machine, which carries the "
				    "schemas\n");
		return;
	}
	etw_text_puts(text, "; on a Windows machine that has it,\n"
			    "    `PerfView UserCommand DumpRegisteredManifest ");
	tally_provider_write(text, provider);
	etw_text_puts(text, "` writes it\n");
}

static void put_provider(struct etw_text *text, const struct tally_provider *provider,
			 const struct etw_inputs *inputs)
{
	enum need need = need_of(provider);

	etw_text_puts(text, "  ");
	tally_provider_write(text, provider);
	etw_text_puts(text, ", ");
	etw_number_count(text, count_open(provider), "event");
	switch (need) {
	case NEED_MANIFEST:
		etw_text_puts(text, ":\n    needs the provider's instrumentation manifest");
		put_source(text, provider);
		put_command(text, provider, inputs);
		break;
	case NEED_NEWER_MANIFEST:
		etw_text_puts(text, ":\n    the known manifest lacks these ids or versions; "
				    "a newer one would help\n");
		put_command(text, provider, inputs);
		break;
	case NEED_CLASS:
		etw_text_puts(text,
			      ":\n    classic events, whose class (MOF) is neither built in nor "
			      "installed;\n    --manifest takes its MOF file, and "
			      "`wevtutil im FILE.mof` installs it\n");
		break;
	case NEED_WPP:
		etw_text_puts(
			text,
			":\n    WPP messages, which need the TMF or PDB file of their "
			"component;\n    --manifest takes it, and `wevtutil im FILE` installs "
			"it\n");
		break;
	case NEED_BETTER_BYTES:
		etw_text_puts(text, ":\n    the schemas inside the events are damaged; nothing "
				    "would help\n");
		break;
	case NEED_FEWER_KINDS:
		etw_text_puts(text, ":\n    the events bring more schemas of their own than are "
				    "kept; a shorter\n    trace brings fewer\n");
		break;
	default:
		etw_text_puts(text, ":\n    their bytes do not fit the schema that is known; "
				    "`etw info` names the events\n");
		break;
	}
}

/* Why, in so few words that several fit into a line. */
static const char *const reasons[NEEDS] = {
	[NEED_MANIFEST] = "its manifest is not known",
	[NEED_NEWER_MANIFEST] = "the known manifest lacks them",
	[NEED_CLASS] = "their class (MOF) is not known",
	[NEED_WPP] = "WPP messages, whose TMF or PDB file is not known",
	[NEED_BETTER_BYTES] = "the schemas inside them are damaged",
	[NEED_FEWER_KINDS] = "too many schemas of their own",
	[NEED_FITTING_SCHEMA] = "their bytes do not fit the known schema",
};

size_t advice_reasons_write(struct etw_text *text, const struct tally *tally, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < tally->providers.count; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];
		const char *reason = reasons[need_of(provider)];

		if (!count_open(provider))
			continue;
		if (count++ >= limit)
			continue;
		if (count > 1)
			etw_text_puts(text, "; ");
		etw_number_grouped(text, count_open(provider));
		etw_text_puts(text, " of ");
		tally_provider_write(text, provider);
		etw_text_printf(text, ": %s", reason ? reason : reasons[NEED_FITTING_SCHEMA]);
	}
	if (count > limit) {
		etw_text_puts(text, "; and ");
		etw_number_count(text, count - limit, "more provider");
		etw_text_puts(text, ", below");
	}
	return count;
}

/* Whether the table might have what a provider needs; which it has cannot be asked without it. */
static bool is_known_missed(const struct tally *tally)
{
	for (size_t i = 0; i < tally->providers.count; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];
		enum need need = need_of(provider);

		if (count_open(provider) &&
		    (need == NEED_MANIFEST || need == NEED_NEWER_MANIFEST || need == NEED_CLASS))
			return true;
	}
	return false;
}

size_t advice_write(struct etw_text *text, const struct tally *tally,
		    const struct etw_inputs *inputs, bool is_known_used, size_t limit)
{
	size_t count = 0;

	if (!is_known_used && is_known_missed(tally))
		etw_text_puts(text,
			      "  The table of known providers was not used: it describes what "
			      "Windows' own\n  providers write, and needs nothing from a "
			      "Windows machine\n");
	for (size_t i = 0; i < tally->providers.count; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];

		if (!count_open(provider))
			continue;
		if (count++ < limit)
			put_provider(text, provider, inputs);
	}
	if (count > limit) {
		etw_text_puts(text, "  ... and ");
		etw_number_count(text, count - limit, "more provider");
		etw_text_puts(text, "; --top 1000 shows all\n");
	}
	return count;
}
