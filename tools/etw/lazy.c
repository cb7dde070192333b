/* SPDX-License-Identifier: MIT */
#include "tools/etw/lazy.h"

const struct etw_decoding *lazy_decode(struct lazy *lazy)
{
	int result;

	if (lazy->is_decoded)
		return &lazy->decoding;
	if (!lazy->decoder || lazy->error)
		return NULL;
	result = etw_decoder_run(lazy->decoder, lazy->record, &lazy->decoding);
	if (result) {
		lazy->error = result;
		return NULL;
	}
	lazy->is_decoded = true;
	return &lazy->decoding;
}

static const struct etw_decoding *decode(void *context)
{
	return lazy_decode(context);
}

static const char *provider_name(void *context, const GUID *provider)
{
	const struct lazy *lazy = context;

	return etw_schema_store_provider_name(lazy->store, provider);
}

const struct etw_filter_source lazy_source = {.decode = decode, .provider_name = provider_name};
