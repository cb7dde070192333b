/* SPDX-License-Identifier: MIT */
/* Security in text. S-1-22-1-<uid> is a user of Linux, S-1-22-2-<gid> a group; S-1-5-18 is root. */
#ifndef ETW_COMPAT_SDDL_H
#define ETW_COMPAT_SDDL_H

#include <winnt.h>

#define SDDL_REVISION_1 1
#define SDDL_REVISION   SDDL_REVISION_1

ETW_EXTERN_C_BEGIN
BOOL WINAPI ConvertSidToStringSidA(PSID Sid, LPSTR *StringSid)
	ETW_NOT_HERE("ConvertSidToStringSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertSidToStringSidW(PSID Sid, LPWSTR *StringSid)
	ETW_NOT_HERE("ConvertSidToStringSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertStringSidToSidA(LPCSTR StringSid, PSID *Sid)
	ETW_NOT_HERE("ConvertStringSidToSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertStringSidToSidW(LPCWSTR StringSid, PSID *Sid)
	ETW_NOT_HERE("ConvertStringSidToSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorA(
	PSECURITY_DESCRIPTOR SecurityDescriptor, DWORD RequestedStringSDRevision,
	SECURITY_INFORMATION SecurityInformation, LPSTR *StringSecurityDescriptor,
	PULONG StringSecurityDescriptorLen)
	ETW_NOT_HERE("ConvertSecurityDescriptorToStringSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertSecurityDescriptorToStringSecurityDescriptorW(
	PSECURITY_DESCRIPTOR SecurityDescriptor, DWORD RequestedStringSDRevision,
	SECURITY_INFORMATION SecurityInformation, LPWSTR *StringSecurityDescriptor,
	PULONG StringSecurityDescriptorLen)
	ETW_NOT_HERE("ConvertSecurityDescriptorToStringSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertStringSecurityDescriptorToSecurityDescriptorA(
	LPCSTR StringSecurityDescriptor, DWORD StringSDRevision,
	PSECURITY_DESCRIPTOR *SecurityDescriptor, PULONG SecurityDescriptorSize)
	ETW_NOT_HERE("ConvertStringSecurityDescriptorToSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI ConvertStringSecurityDescriptorToSecurityDescriptorW(
	LPCWSTR StringSecurityDescriptor, DWORD StringSDRevision,
	PSECURITY_DESCRIPTOR *SecurityDescriptor, PULONG SecurityDescriptorSize)
	ETW_NOT_HERE("ConvertStringSecurityDescriptorToSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
ETW_EXTERN_C_END

#define ConvertSidToStringSid ETW_AW(ConvertSidToStringSid)
#define ConvertStringSidToSid ETW_AW(ConvertStringSidToSid)
#define ConvertSecurityDescriptorToStringSecurityDescriptor \
	ETW_AW(ConvertSecurityDescriptorToStringSecurityDescriptor)
#define ConvertStringSecurityDescriptorToSecurityDescriptor \
	ETW_AW(ConvertStringSecurityDescriptorToSecurityDescriptor)
#endif
