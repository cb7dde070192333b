/* SPDX-License-Identifier: MIT */
/* Accounts, SIDs, tokens and privileges. Layouts of SIDs, lists and descriptors are in etw/winsecurity.h. */
#ifndef ETW_COMPAT_WINNT_SECURITY_H
#define ETW_COMPAT_WINNT_SECURITY_H

#include <etw/winstructs.h>
#include <minwindef.h>

#define OWNER_SECURITY_INFORMATION            0x00000001
#define GROUP_SECURITY_INFORMATION            0x00000002
#define DACL_SECURITY_INFORMATION             0x00000004
#define SACL_SECURITY_INFORMATION             0x00000008
#define LABEL_SECURITY_INFORMATION            0x00000010
#define UNPROTECTED_SACL_SECURITY_INFORMATION 0x10000000
#define UNPROTECTED_DACL_SECURITY_INFORMATION 0x20000000
#define PROTECTED_SACL_SECURITY_INFORMATION   0x40000000
#define PROTECTED_DACL_SECURITY_INFORMATION   0x80000000U

#define SE_DACL_AUTO_INHERIT_REQ 0x0100
#define SE_SACL_AUTO_INHERIT_REQ 0x0200
#define SE_DACL_AUTO_INHERITED   0x0400
#define SE_SACL_AUTO_INHERITED   0x0800
#define SE_DACL_PROTECTED        0x1000
#define SE_SACL_PROTECTED        0x2000

#define SYSTEM_MANDATORY_LABEL_ACE_TYPE 0x11
#define OBJECT_INHERIT_ACE              0x1
#define CONTAINER_INHERIT_ACE           0x2
#define NO_PROPAGATE_INHERIT_ACE        0x4
#define INHERIT_ONLY_ACE                0x8
#define INHERITED_ACE                   0x10

#define SECURITY_DESCRIPTOR_MIN_LENGTH (sizeof(SECURITY_DESCRIPTOR))

typedef struct _SID_AND_ATTRIBUTES {
	PSID Sid;
	DWORD Attributes;
} SID_AND_ATTRIBUTES, *PSID_AND_ATTRIBUTES;

typedef enum _SID_NAME_USE {
	SidTypeUser = 1,
	SidTypeGroup,
	SidTypeDomain,
	SidTypeAlias,
	SidTypeWellKnownGroup,
	SidTypeDeletedAccount,
	SidTypeInvalid,
	SidTypeUnknown,
	SidTypeComputer,
	SidTypeLabel,
	SidTypeLogonSession
} SID_NAME_USE, *PSID_NAME_USE;

typedef enum {
	WinNullSid = 0,
	WinWorldSid = 1,
	WinLocalSid = 2,
	WinCreatorOwnerSid = 3,
	WinCreatorGroupSid = 4,
	WinNtAuthoritySid = 7,
	WinDialupSid = 8,
	WinNetworkSid = 9,
	WinBatchSid = 10,
	WinInteractiveSid = 11,
	WinServiceSid = 12,
	WinAnonymousSid = 13,
	WinSelfSid = 16,
	WinAuthenticatedUserSid = 17,
	WinRestrictedCodeSid = 18,
	WinTerminalServerSid = 19,
	WinLocalSystemSid = 22,
	WinLocalServiceSid = 23,
	WinNetworkServiceSid = 24,
	WinBuiltinDomainSid = 25,
	WinBuiltinAdministratorsSid = 26,
	WinBuiltinUsersSid = 27,
	WinBuiltinGuestsSid = 28,
	WinBuiltinPowerUsersSid = 29,
	WinBuiltinPerfMonitoringUsersSid = 57,
	WinBuiltinPerfLoggingUsersSid = 58,
	WinBuiltinEventLogReadersGroup = 76
} WELL_KNOWN_SID_TYPE;

#define SECURITY_NULL_SID_AUTHORITY    {0, 0, 0, 0, 0, 0}
#define SECURITY_WORLD_SID_AUTHORITY   {0, 0, 0, 0, 0, 1}
#define SECURITY_LOCAL_SID_AUTHORITY   {0, 0, 0, 0, 0, 2}
#define SECURITY_CREATOR_SID_AUTHORITY {0, 0, 0, 0, 0, 3}
#define SECURITY_NT_AUTHORITY          {0, 0, 0, 0, 0, 5}

#define SECURITY_NULL_RID                 0x00000000
#define SECURITY_WORLD_RID                0x00000000
#define SECURITY_LOCAL_SYSTEM_RID         0x00000012
#define SECURITY_LOCAL_SERVICE_RID        0x00000013
#define SECURITY_NETWORK_SERVICE_RID      0x00000014
#define SECURITY_AUTHENTICATED_USER_RID   0x0000000B
#define SECURITY_BUILTIN_DOMAIN_RID       0x00000020
#define DOMAIN_ALIAS_RID_ADMINS           0x00000220
#define DOMAIN_ALIAS_RID_USERS            0x00000221
#define DOMAIN_ALIAS_RID_GUESTS           0x00000222
#define DOMAIN_ALIAS_RID_MONITORING_USERS 0x0000022E
#define DOMAIN_ALIAS_RID_LOGGING_USERS    0x0000022F
#define DOMAIN_ALIAS_RID_EVENT_LOG_READERS_GROUP 0x0000023D

#define TOKEN_ASSIGN_PRIMARY    0x0001
#define TOKEN_DUPLICATE         0x0002
#define TOKEN_IMPERSONATE       0x0004
#define TOKEN_QUERY             0x0008
#define TOKEN_QUERY_SOURCE      0x0010
#define TOKEN_ADJUST_PRIVILEGES 0x0020
#define TOKEN_ADJUST_GROUPS     0x0040
#define TOKEN_ADJUST_DEFAULT    0x0080
#define TOKEN_ADJUST_SESSIONID  0x0100
#define TOKEN_READ              (0x00020000 | TOKEN_QUERY)
#define TOKEN_ALL_ACCESS        0x000F01FF

#define SE_PRIVILEGE_ENABLED_BY_DEFAULT 0x00000001
#define SE_PRIVILEGE_ENABLED            0x00000002
#define SE_PRIVILEGE_REMOVED            0x00000004
#define SE_GROUP_MANDATORY              0x00000001
#define SE_GROUP_ENABLED_BY_DEFAULT     0x00000002
#define SE_GROUP_ENABLED                0x00000004

#define SE_ASSIGNPRIMARYTOKEN_NAME  TEXT("SeAssignPrimaryTokenPrivilege")
#define SE_INCREASE_QUOTA_NAME      TEXT("SeIncreaseQuotaPrivilege")
#define SE_TCB_NAME                 TEXT("SeTcbPrivilege")
#define SE_SECURITY_NAME            TEXT("SeSecurityPrivilege")
#define SE_TAKE_OWNERSHIP_NAME      TEXT("SeTakeOwnershipPrivilege")
#define SE_LOAD_DRIVER_NAME         TEXT("SeLoadDriverPrivilege")
#define SE_SYSTEM_PROFILE_NAME      TEXT("SeSystemProfilePrivilege")
#define SE_SYSTEMTIME_NAME          TEXT("SeSystemtimePrivilege")
#define SE_PROF_SINGLE_PROCESS_NAME TEXT("SeProfileSingleProcessPrivilege")
#define SE_INC_BASE_PRIORITY_NAME   TEXT("SeIncreaseBasePriorityPrivilege")
#define SE_BACKUP_NAME              TEXT("SeBackupPrivilege")
#define SE_RESTORE_NAME             TEXT("SeRestorePrivilege")
#define SE_SHUTDOWN_NAME            TEXT("SeShutdownPrivilege")
#define SE_DEBUG_NAME               TEXT("SeDebugPrivilege")
#define SE_AUDIT_NAME               TEXT("SeAuditPrivilege")
#define SE_CHANGE_NOTIFY_NAME       TEXT("SeChangeNotifyPrivilege")
#define SE_IMPERSONATE_NAME         TEXT("SeImpersonatePrivilege")

typedef enum _TOKEN_INFORMATION_CLASS {
	TokenUser = 1,
	TokenGroups = 2,
	TokenPrivileges = 3,
	TokenOwner = 4,
	TokenPrimaryGroup = 5,
	TokenType = 8,
	TokenSessionId = 12,
	TokenElevationType = 18,
	TokenElevation = 20,
	TokenIntegrityLevel = 25
} TOKEN_INFORMATION_CLASS;

typedef enum _TOKEN_TYPE { TokenPrimary = 1, TokenImpersonation } TOKEN_TYPE, *PTOKEN_TYPE;

typedef enum _TOKEN_ELEVATION_TYPE {
	TokenElevationTypeDefault = 1,
	TokenElevationTypeFull,
	TokenElevationTypeLimited
} TOKEN_ELEVATION_TYPE, *PTOKEN_ELEVATION_TYPE;

typedef struct _TOKEN_USER {
	SID_AND_ATTRIBUTES User;
} TOKEN_USER, *PTOKEN_USER;

typedef struct _TOKEN_GROUPS {
	DWORD GroupCount;
	SID_AND_ATTRIBUTES Groups[ANYSIZE_ARRAY];
} TOKEN_GROUPS, *PTOKEN_GROUPS;

typedef struct _TOKEN_OWNER {
	PSID Owner;
} TOKEN_OWNER, *PTOKEN_OWNER;

typedef struct _TOKEN_PRIMARY_GROUP {
	PSID PrimaryGroup;
} TOKEN_PRIMARY_GROUP, *PTOKEN_PRIMARY_GROUP;

typedef struct _TOKEN_ELEVATION {
	DWORD TokenIsElevated;
} TOKEN_ELEVATION, *PTOKEN_ELEVATION;

typedef struct _PRIVILEGE_SET {
	DWORD PrivilegeCount;
	DWORD Control;
	LUID_AND_ATTRIBUTES Privilege[ANYSIZE_ARRAY];
} PRIVILEGE_SET, *PPRIVILEGE_SET;

#define PRIVILEGE_SET_ALL_NECESSARY 1

typedef enum _ACL_INFORMATION_CLASS {
	AclRevisionInformation = 1,
	AclSizeInformation
} ACL_INFORMATION_CLASS;

typedef struct _ACL_SIZE_INFORMATION {
	DWORD AceCount;
	DWORD AclBytesInUse;
	DWORD AclBytesFree;
} ACL_SIZE_INFORMATION, *PACL_SIZE_INFORMATION;

#endif
