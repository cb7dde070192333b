# SPDX-License-Identifier: MIT
# etw_room(NAME [DEPENDS room...] [LIBRARIES target...]) - one folder of src/ as a static library.
function(etw_room name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  add_library(etw_${name} STATIC ${sources})
  target_include_directories(etw_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  foreach(room ${arg_DEPENDS})
    target_link_libraries(etw_${name} PUBLIC etw_${room})
  endforeach()
  target_link_libraries(etw_${name} PRIVATE ${arg_LIBRARIES})
endfunction()

# etw_unit_tests(ROOM [target...]) - every tests/unit/ROOM/test_*.c as one cmocka program in ctest.
function(etw_unit_tests room)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${room}/test_*.c)
  foreach(source ${tests})
    get_filename_component(stem ${source} NAME_WE)
    set(target unit_${room}_${stem})
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
                                                 ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE ${ARGN} cmocka)
    add_test(NAME unit.${room}.${stem} COMMAND ${target})
    set_tests_properties(unit.${room}.${stem} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
endfunction()
