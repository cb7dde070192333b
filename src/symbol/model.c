/* SPDX-License-Identifier: MIT */
/* Sentences of the reasons. See model.h. */
#include "symbol/model.h"

#include "base/macros.h"

static const char *const sentences[] = {
	[ETW_SYMBOL_OK] = "",
	[ETW_SYMBOL_NOT_ASKED] = "no address of it was looked up",
	[ETW_SYMBOL_STRIPPED] =
		"stripped, so that only exported functions have names: install its debug files "
		"(a package that ends in -dbgsym or -debuginfo), or name their folder",
	[ETW_SYMBOL_NO_SYMBOLS] =
		"has no symbols: install its debug files (a package that ends in -dbgsym or "
		"-debuginfo), or name their folder",
	[ETW_SYMBOL_NO_FILE] = "not found: name the folder of a copy, or of its debug files",
	[ETW_SYMBOL_NO_ACCESS] = "may not be read by this user",
	[ETW_SYMBOL_OTHER_BUILD_ID] = "the file is another build than the one that ran: name a "
				      "folder with the one that ran, "
				      "or with its debug files",
	[ETW_SYMBOL_NOT_ELF] = "not an ELF file",
	[ETW_SYMBOL_DAMAGED] = "an ELF file that cannot be read",
	[ETW_SYMBOL_TOO_LARGE] = "larger than the limits allow",
	[ETW_SYMBOL_HIDDEN] = "the kernel hides its addresses: look at the trace as root, with "
			      "kernel.kptr_restrict at 0 or 1",
	[ETW_SYMBOL_OTHER_KERNEL] = "the trace is of another kernel, or of an earlier boot",
	[ETW_SYMBOL_LEFT_OUT] = "this build has no libdw, which reads ELF files",
	[ETW_SYMBOL_OTHER_OWNER] = "belongs neither to the user whose process it is about, nor "
				   "to root, nor to who asks",
};

const char *etw_symbol_reason_sentence(enum etw_symbol_reason reason)
{
	return (size_t)reason < ARRAY_SIZE(sentences) ? sentences[reason] : "";
}
