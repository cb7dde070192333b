/* SPDX-License-Identifier: MIT */
/* What the sources of etl/writer.h share. */
#ifndef ETW_ETL_WRITER_INTERNAL_H
#define ETW_ETL_WRITER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_ETL_STATE_FLUSH 3 /* of every buffer that a session writes */

/* etw_etl_processor_word() - what stands at 0x28: the index, or before Windows 8 number and alignment. */
uint16_t etw_etl_processor_word(uint16_t processor, bool is_before_windows_8);

#endif
