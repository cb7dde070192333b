/* SPDX-License-Identifier: MIT */
/* What another version of the library has in its ELF file: a note that leads to a table of its own. */
#include <stdint.h>

extern const uint32_t strange_copy[2];
__attribute__((used, visibility("hidden"))) const uint32_t strange_copy[2] = {99, 8};

__asm__(".pushsection .note.libetw, \"a\", %note\n"
	"	.balign 4\n"
	"	.long 7\n"
	"	.long 4\n"
	"	.long 1\n"
	"	.asciz \"libetw\"\n"
	"	.balign 4\n"
	"	.long strange_copy - .\n"
	".popsection\n");
