#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is known of providers: lists, one provider, filters, words within events.
"$ETW" providers '*Kernel-Network' Microsoft-Windows-Kernel-Memory
"$ETW" providers Microsoft-Windows-Kernel-Network --event 10 --event 12
"$ETW" providers microsoft-windows-kernel-disk
echo "by GUID, by an older name, and one of which only the name is known:"
"$ETW" providers '{7DD42A49-5329-4832-8DFD-43D979153A88}' | head -2
"$ETW" providers clrtrace | head -4
"$ETW" providers 'ASP.NET Events' | head -2
"$ETW" providers 'ATA Port Driver Tracing Provider'
echo "several layouts, and an incomplete one:"
"$ETW" providers Microsoft-Windows-DNS-Client --event 8050
"$ETW" providers Microsoft-Windows-Kernel-General --event 14
"$ETW" providers --search ParentProcessSequence
"$ETW" providers --search 'Parent*Process*Number' --json | head -1
"$ETW" providers Microsoft-Windows-Kernel-Process --keyword WINEVENT_KEYWORD_JOB_SILO --json
