# SPDX-License-Identifier: MIT
# etw_module(NAME [DEPENDS module...] [LIBRARIES target...]) - one folder of src/ as a static library.
function(etw_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  list(FILTER sources EXCLUDE REGEX "\\.bpf\\.c$")
  set(kind STATIC)
  set(public PUBLIC)
  set(private PRIVATE)
  if(NOT sources) # a module that has headers so far
    set(kind INTERFACE)
    set(public INTERFACE)
    set(private INTERFACE)
  endif()
  add_library(etw_${name} ${kind} ${sources})
  target_include_directories(etw_${name} ${public} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  foreach(module ${arg_DEPENDS})
    target_link_libraries(etw_${name} ${public} etw_${module})
  endforeach()
  target_link_libraries(etw_${name} ${private} ${arg_LIBRARIES})
endfunction()

# etw_unit_tests(ROOM [target...]) - every tests/unit/ROOM/test_*.c as one cmocka program in ctest.
function(etw_unit_tests module)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${module}/test_*.c)
  foreach(source ${tests})
    get_filename_component(stem ${source} NAME_WE)
    set(target unit_${module}_${stem})
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
                                                 ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE ${ARGN} cmocka)
    add_test(NAME unit.${module}.${stem} COMMAND ${target})
    # The thread sanitizer would end a forked child at its first thread, and wait a second at each end.
    set_tests_properties(unit.${module}.${stem} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800
      ENVIRONMENT "TSAN_OPTIONS=die_after_fork=0:atexit_sleep_ms=0")
  endforeach()
endfunction()
