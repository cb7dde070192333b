# SPDX-License-Identifier: MIT
# What can be left out of a build. Whoever decides tells it here; at its end the configuration lists all, and
# `etw --version` and `etwd --version` repeat the list (src/base/build.h).

# etw_component(NAME [REASON]) - NAME is in this build, or left out for REASON: a clause such as "libbpf was not
# found", with a remedy behind a colon where there is one.
function(etw_component name)
  if(ARGC GREATER 1)
    set_property(GLOBAL APPEND PROPERTY ETW_COMPONENTS "${name}: left out: ${ARGV1}")
  else()
    set_property(GLOBAL APPEND PROPERTY ETW_COMPONENTS "${name}: in")
  endif()
endfunction()

# etw_components_summary(MODULE) - prints the list, and makes the source of base/build.h from it in MODULE.
function(etw_components_summary module)
  get_property(components GLOBAL PROPERTY ETW_COMPONENTS)
  set(lines "")
  message(STATUS "libetw ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_C_COMPILER_ID} "
                 "${CMAKE_C_COMPILER_VERSION} for ${CMAKE_SYSTEM_PROCESSOR}")
  foreach(component IN LISTS components)
    message(STATUS "  ${component}")
    string(REPLACE "\\" "\\\\" line "${component}")
    string(REPLACE "\"" "\\\"" line "${line}")
    string(APPEND lines "\"${line}\\n\"\n")
  endforeach()
  # Not file(CONFIGURE), which in CMake 3.18 loses the ends of lines.
  configure_file(${CMAKE_SOURCE_DIR}/cmake/build.c.in ${CMAKE_BINARY_DIR}/generated/build.c @ONLY)
  target_sources(${module} PRIVATE ${CMAKE_BINARY_DIR}/generated/build.c)
endfunction()
