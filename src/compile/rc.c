/* SPDX-License-Identifier: MIT */
#include "compile/rc.h"

#include <errno.h>

#include "schema/compiled/language.h"

#define LANGUAGE_ENGLISH_US 0x0409u /* of a manifest without strings */
#define PRIMARY_BITS        10
#define TYPE_MESSAGE_TABLE  11

void etw_compile_message_file(const struct mc_culture *culture, const char *base,
			      struct etw_text *out)
{
	if (base)
		etw_text_printf(out, "%s_", base);
	etw_text_printf(out, "MSG%05zu.bin", (culture ? culture->index : 0) + 1);
}

void etw_compile_wevt_file(const char *base, struct etw_text *out)
{
	etw_text_printf(out, "%sTEMP.BIN", base);
}

static int put_culture(const struct mc_culture *culture, const char *base, struct etw_text *out,
		       struct etw_fault *reterr)
{
	unsigned language = culture ? etw_language_number(culture->name) : LANGUAGE_ENGLISH_US;

	if (!language)
		return etw_fault_set(reterr, -EOPNOTSUPP, 1, "resource script", "culture",
				     "a culture of the manifest is not among those whose numbers "
				     "are known");
	etw_text_printf(out, "LANGUAGE 0x%x,0x%x\n1 %d \"", language & ((1u << PRIMARY_BITS) - 1),
			language >> PRIMARY_BITS, TYPE_MESSAGE_TABLE);
	etw_compile_message_file(culture, base, out);
	etw_text_puts(out, "\"\n");
	return 0;
}

/* The binary resource follows the primary culture, in whose language it then is. */
static void put_wevt(const char *base, struct etw_text *out)
{
	etw_text_puts(out, "1 WEVT_TEMPLATE \"");
	etw_compile_wevt_file(base, out);
	etw_text_puts(out, "\"\n");
}

int etw_compile_rc(const struct mc_manifest *manifest, const char *base, bool is_base_used,
		   struct etw_text *out, struct etw_fault *reterr)
{
	const struct mc_culture *culture = manifest->cultures;
	const char *prefix = is_base_used ? base : NULL;
	int r = put_culture(culture, prefix, out, reterr);

	if (r < 0)
		return r;
	put_wevt(base, out);
	for (culture = culture ? culture->next : NULL; culture; culture = culture->next) {
		r = put_culture(culture, prefix, out, reterr);
		if (r < 0)
			return r;
	}
	return etw_text_error(out);
}
