/* SPDX-License-Identifier: MIT */
/* SIDs, access lists, descriptors and tokens. Which users of Linux they stand for: sddl.h. */
#ifndef ETW_COMPAT_SECURITYBASEAPI_H
#define ETW_COMPAT_SECURITYBASEAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
BOOL WINAPI IsValidSid(PSID pSid)
	ETW_NOT_HERE("IsValidSid is not built yet: read the layout in etw/winsecurity.h");
DWORD WINAPI GetLengthSid(PSID pSid)
	ETW_NOT_HERE("GetLengthSid is not built yet: read the layout in etw/winsecurity.h");
DWORD WINAPI GetSidLengthRequired(UCHAR nSubAuthorityCount)
	ETW_NOT_HERE("GetSidLengthRequired is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI CopySid(DWORD nDestinationSidLength, PSID pDestinationSid, PSID pSourceSid)
	ETW_NOT_HERE("CopySid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI EqualSid(PSID pSid1, PSID pSid2)
	ETW_NOT_HERE("EqualSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI EqualPrefixSid(PSID pSid1, PSID pSid2)
	ETW_NOT_HERE("EqualPrefixSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI InitializeSid(PSID Sid, PSID_IDENTIFIER_AUTHORITY pIdentifierAuthority,
			  BYTE nSubAuthorityCount)
	ETW_NOT_HERE("InitializeSid is not built yet: read the layout in etw/winsecurity.h");
PSID_IDENTIFIER_AUTHORITY WINAPI GetSidIdentifierAuthority(PSID pSid)
	ETW_NOT_HERE("GetSidIdentifierAuthority is not built yet: read the layout in etw/winsecurity.h");
PDWORD WINAPI GetSidSubAuthority(PSID pSid, DWORD nSubAuthority)
	ETW_NOT_HERE("GetSidSubAuthority is not built yet: read the layout in etw/winsecurity.h");
PUCHAR WINAPI GetSidSubAuthorityCount(PSID pSid)
	ETW_NOT_HERE("GetSidSubAuthorityCount is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI AllocateAndInitializeSid(PSID_IDENTIFIER_AUTHORITY pIdentifierAuthority,
				     BYTE nSubAuthorityCount, DWORD nSubAuthority0,
				     DWORD nSubAuthority1, DWORD nSubAuthority2,
				     DWORD nSubAuthority3, DWORD nSubAuthority4,
				     DWORD nSubAuthority5, DWORD nSubAuthority6,
				     DWORD nSubAuthority7, PSID *pSid)
	ETW_NOT_HERE("AllocateAndInitializeSid is not built yet: read the layout in etw/winsecurity.h");
PVOID WINAPI FreeSid(PSID pSid)
	ETW_NOT_HERE("FreeSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI CreateWellKnownSid(WELL_KNOWN_SID_TYPE WellKnownSidType, PSID DomainSid, PSID pSid,
			       DWORD *cbSid)
	ETW_NOT_HERE("CreateWellKnownSid is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI IsWellKnownSid(PSID pSid, WELL_KNOWN_SID_TYPE WellKnownSidType)
	ETW_NOT_HERE("IsWellKnownSid is not built yet: read the layout in etw/winsecurity.h");

BOOL WINAPI InitializeAcl(PACL pAcl, DWORD nAclLength, DWORD dwAclRevision)
	ETW_NOT_HERE("InitializeAcl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI IsValidAcl(PACL pAcl)
	ETW_NOT_HERE("IsValidAcl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI AddAccessAllowedAce(PACL pAcl, DWORD dwAceRevision, DWORD AccessMask, PSID pSid)
	ETW_NOT_HERE("AddAccessAllowedAce is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI AddAccessAllowedAceEx(PACL pAcl, DWORD dwAceRevision, DWORD AceFlags, DWORD AccessMask,
				  PSID pSid)
	ETW_NOT_HERE("AddAccessAllowedAceEx is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI AddAccessDeniedAce(PACL pAcl, DWORD dwAceRevision, DWORD AccessMask, PSID pSid)
	ETW_NOT_HERE("AddAccessDeniedAce is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetAce(PACL pAcl, DWORD dwAceIndex, LPVOID *pAce)
	ETW_NOT_HERE("GetAce is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetAclInformation(PACL pAcl, LPVOID pAclInformation, DWORD nAclInformationLength,
			      ACL_INFORMATION_CLASS dwAclInformationClass)
	ETW_NOT_HERE("GetAclInformation is not built yet: read the layout in etw/winsecurity.h");

BOOL WINAPI InitializeSecurityDescriptor(PSECURITY_DESCRIPTOR pSecurityDescriptor,
					 DWORD dwRevision)
	ETW_NOT_HERE("InitializeSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI IsValidSecurityDescriptor(PSECURITY_DESCRIPTOR pSecurityDescriptor)
	ETW_NOT_HERE("IsValidSecurityDescriptor is not built yet: read the layout in etw/winsecurity.h");
DWORD WINAPI GetSecurityDescriptorLength(PSECURITY_DESCRIPTOR pSecurityDescriptor)
	ETW_NOT_HERE("GetSecurityDescriptorLength is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetSecurityDescriptorControl(PSECURITY_DESCRIPTOR pSecurityDescriptor,
					 PSECURITY_DESCRIPTOR_CONTROL pControl,
					 LPDWORD lpdwRevision)
	ETW_NOT_HERE("GetSecurityDescriptorControl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI SetSecurityDescriptorOwner(PSECURITY_DESCRIPTOR pSecurityDescriptor, PSID pOwner,
				       BOOL bOwnerDefaulted)
	ETW_NOT_HERE("SetSecurityDescriptorOwner is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetSecurityDescriptorOwner(PSECURITY_DESCRIPTOR pSecurityDescriptor, PSID *pOwner,
				       LPBOOL lpbOwnerDefaulted)
	ETW_NOT_HERE("GetSecurityDescriptorOwner is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI SetSecurityDescriptorGroup(PSECURITY_DESCRIPTOR pSecurityDescriptor, PSID pGroup,
				       BOOL bGroupDefaulted)
	ETW_NOT_HERE("SetSecurityDescriptorGroup is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetSecurityDescriptorGroup(PSECURITY_DESCRIPTOR pSecurityDescriptor, PSID *pGroup,
				       LPBOOL lpbGroupDefaulted)
	ETW_NOT_HERE("GetSecurityDescriptorGroup is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI SetSecurityDescriptorDacl(PSECURITY_DESCRIPTOR pSecurityDescriptor, BOOL bDaclPresent,
				      PACL pDacl, BOOL bDaclDefaulted)
	ETW_NOT_HERE("SetSecurityDescriptorDacl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetSecurityDescriptorDacl(PSECURITY_DESCRIPTOR pSecurityDescriptor,
				      LPBOOL lpbDaclPresent, PACL *pDacl, LPBOOL lpbDaclDefaulted)
	ETW_NOT_HERE("GetSecurityDescriptorDacl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI GetSecurityDescriptorSacl(PSECURITY_DESCRIPTOR pSecurityDescriptor,
				      LPBOOL lpbSaclPresent, PACL *pSacl, LPBOOL lpbSaclDefaulted)
	ETW_NOT_HERE("GetSecurityDescriptorSacl is not built yet: read the layout in etw/winsecurity.h");
BOOL WINAPI MakeSelfRelativeSD(PSECURITY_DESCRIPTOR pAbsoluteSecurityDescriptor,
			       PSECURITY_DESCRIPTOR pSelfRelativeSecurityDescriptor,
			       LPDWORD lpdwBufferLength)
	ETW_NOT_HERE("MakeSelfRelativeSD is not built yet: read the layout in etw/winsecurity.h");

BOOL WINAPI GetTokenInformation(HANDLE TokenHandle, TOKEN_INFORMATION_CLASS TokenInformationClass,
				LPVOID TokenInformation, DWORD TokenInformationLength,
				PDWORD ReturnLength)
	ETW_NOT_HERE("GetTokenInformation is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI AdjustTokenPrivileges(HANDLE TokenHandle, BOOL DisableAllPrivileges,
				  PTOKEN_PRIVILEGES NewState, DWORD BufferLength,
				  PTOKEN_PRIVILEGES PreviousState, PDWORD ReturnLength)
	ETW_NOT_HERE("AdjustTokenPrivileges is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI CheckTokenMembership(HANDLE TokenHandle, PSID SidToCheck, PBOOL IsMember)
	ETW_NOT_HERE("CheckTokenMembership is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI PrivilegeCheck(HANDLE ClientToken, PPRIVILEGE_SET RequiredPrivileges, LPBOOL pfResult)
	ETW_NOT_HERE("PrivilegeCheck is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI ImpersonateSelf(DWORD ImpersonationLevel)
	ETW_NOT_HERE("ImpersonateSelf: threads of Linux act as their process; open its token by OpenProcessToken()");
BOOL WINAPI RevertToSelf(VOID)
	ETW_NOT_HERE("RevertToSelf: threads of Linux act as their process");
ETW_EXTERN_C_END
#endif
