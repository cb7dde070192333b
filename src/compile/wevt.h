/* SPDX-License-Identifier: MIT */
/*
 * WEVT_TEMPLATE, the binary form of a manifest. Layout: wire/wevt.h; rules that were seen in the
 * output of the message compiler stand where they are followed.
 */
#ifndef ETW_COMPILE_WEVT_H
#define ETW_COMPILE_WEVT_H

#include "base/fault.h"
#include "base/text.h"
#include "compile/model.h"

#define COMPILE_WEVT_MAJOR_OLD 3 /* kits through 10.0.15063 */
#define COMPILE_WEVT_MAJOR     5 /* kits from 10.0.16299 on */
#define COMPILE_WEVT_BYTES_MAX ((size_t)64 << 20)

/*
 * etw_compile_wevt() - appends the resource of a manifest.
 *
 * @manifest: without errors
 * @major:    COMPILE_WEVT_MAJOR or COMPILE_WEVT_MAJOR_OLD, which has neither traits nor attributes
 * @out:      bytes; empty at the call
 *
 * Returns 0; -EFBIG with @reterr, whose offset is the line of the element that does not fit; -ENOMEM.
 */
int etw_compile_wevt(const struct mc_manifest *manifest, unsigned major, struct etw_text *out,
		     struct etw_fault *reterr);

#endif
