/* SPDX-License-Identifier: MIT */
#include "tools/etw/kernel_class.h"

const GUID kernel_class_process = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
const GUID kernel_class_thread = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

bool kernel_class_number(const struct etw_decoding *decoding, const char *name, uint64_t *ret)
{
	const struct etw_item *item = etw_decoding_find(decoding, name);

	return item && etw_decoding_u64(decoding, item, ret);
}
