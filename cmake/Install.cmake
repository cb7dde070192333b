# SPDX-License-Identifier: MIT
# cmake --install: libraries, headers under include/libetw, pkg-config and CMake package files, manual
# pages, shell completion, the documents and the examples.
set(ETW_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/libetw)

install(TARGETS etw wevtutil RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS etw_mc EXPORT libetw-targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The message compiler has Microsoft's name only where the user says that it is free: it is the file manager's
# on many machines.
option(ETW_INSTALL_MC "Install a link mc to etw-mc" OFF)
if(ETW_INSTALL_MC)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/mc-link)
  file(CREATE_LINK etw-mc ${CMAKE_BINARY_DIR}/mc-link/mc SYMBOLIC)
  file(CREATE_LINK etw-mc.1 ${CMAKE_BINARY_DIR}/mc-link/mc.1 SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/mc-link/mc DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/mc-link/mc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(TARGETS etw_provider_so etw_provider_a etw_core_so EXPORT libetw-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${ETW_INCLUDE_DIR})
install(TARGETS etw_compat_a EXPORT libetw-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/lib/libetw.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${ETW_INCLUDE_DIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "bits/*")
foreach(section 1 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
# The C functions: pages that scripts/gen_man wrote. A page of several functions is found by each of their
# names, through a file with one line that leads to it.
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/man3/*.3)
file(STRINGS ${CMAKE_SOURCE_DIR}/man/man3/aliases aliases)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/man3/aliases)
foreach(alias ${aliases})
  string(REPLACE " " ";" alias ${alias})
  list(GET alias 0 name)
  list(GET alias 1 page)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/man3/${name}.3 CONTENT ".so man3/${page}.3\n")
  list(APPEND pages ${CMAKE_BINARY_DIR}/man3/${name}.3)
endforeach()
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

set(completions ${CMAKE_SOURCE_DIR}/packaging/completions)
install(FILES ${completions}/bash/etw ${completions}/bash/wevtutil ${completions}/bash/etw-mc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions}/zsh/_etw ${completions}/zsh/_wevtutil ${completions}/zsh/_etw-mc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completions}/fish/etw.fish ${completions}/fish/wevtutil.fish ${completions}/fish/etw-mc.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The documents lie among each other as in the repository, so that their links hold.
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The pkg-config files find the prefix from where they lie, so an installed tree may be moved.
file(RELATIVE_PATH ETW_PKGCONFIG_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
get_target_property(ETW_COMPAT_FLAGS etw_compat ETW_FLAGS)
list(JOIN ETW_COMPAT_FLAGS " " ETW_COMPAT_FLAGS_TEXT)
# etw-windows is the older name of etw-compat.
foreach(name etw etw-compat etw-windows etw-provider)
  string(REPLACE etw-windows etw-compat source ${name})
  configure_file(${CMAKE_SOURCE_DIR}/packaging/${source}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(EXPORT libetw-targets NAMESPACE libetw:: FILE libetw-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libetw)
set(ETW_COMPAT_INCLUDE_DIR ${ETW_INCLUDE_DIR}/compat)
configure_package_config_file(${CMAKE_SOURCE_DIR}/packaging/libetw-config.cmake.in
  ${CMAKE_BINARY_DIR}/libetw-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libetw
  PATH_VARS ETW_COMPAT_INCLUDE_DIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/libetw-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/libetw-config.cmake ${CMAKE_BINARY_DIR}/libetw-config-version.cmake
  ${CMAKE_SOURCE_DIR}/packaging/libetw-manifest.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libetw)
