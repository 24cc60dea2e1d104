# Fuzz targets: src/<module>/**/<name>_fuzz.cpp becomes fuzz_<name>, linked with its module.
# The preset `asan` instruments the modules; each target reads and grows a corpus folder:
#   fuzz_<name> -max_total_time=60 build/corpus/<name> tests/corpus/<name>
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "KVIK_FUZZ needs clang: use the preset asan")
endif()
file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_fuzz.cpp)
foreach(source ${fuzz_sources})
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/src ${source})
    string(REGEX REPLACE "/.*" "" module ${path})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} kvik_${module} -fsanitize=fuzzer)
endforeach()
