/* SPDX-License-Identifier: MIT */
/* Buffers that are in a file twice, byte for byte: their events come twice. */
#ifndef ETW_ETL_TWINS_H
#define ETW_ETL_TWINS_H

#include "etl/directory.h"
#include "etl/file.h"
#include "etl/findings.h"

/*
 * etw_etl_twins_find() - makes a finding of each buffer that has the bytes of an earlier one.
 *
 * @directory: built; only buffers that hold events are in it, and only those matter
 *
 * No session writes two: each buffer has the time and the number of its flush. Buffers are only read where
 * another has the same first time, size and flags, so that a sound file costs no read. Returns 0; -ENOMEM; the errno
 * of reading.
 */
int etw_etl_twins_find(const struct etw_etl_file *file, const struct etw_etl_directory *directory,
		       struct etw_findings *findings);

#endif
