/* SPDX-License-Identifier: MIT */
#include "process/kernel_class.h"

#include "wire/class_guids.h"

const GUID etw_class_process = WIRE_CLASS_PROCESS;
const GUID etw_class_thread = WIRE_CLASS_THREAD;
const GUID etw_class_perfinfo = WIRE_CLASS_PERF_INFO;
const GUID etw_provider_kernel_process = WIRE_PROVIDER_KERNEL_PROCESS;
