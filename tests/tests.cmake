# Tests that belong to no module: the laws of the tree, the tools' own tests, and the program as a
# whole against the real model (.models, fetched by scripts/test; without it they fail).
if(KVIK_FUZZ)
    include(tests/fuzz.cmake)
endif()
if(NOT KVIK_TESTS)
    return()
endif()

find_program(PYTHON3 python3 REQUIRED)

add_test(NAME tidy COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tools/tidy.py)
foreach(name test_tidy test_tally test_fetch_model test_count test_versus test_table)
    add_test(NAME python.${name} COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/python/${name}.py)
endforeach()

# The engine's public face, where the command line shows too little: conversations, what is found
# again, and memory.
foreach(file turns_test.cpp reuse_test.cpp budget_test.cpp sessions_test.cpp beams_test.cpp)
    string(REPLACE "_test.cpp" "" name ${file})
    add_executable(test_${name} tests/e2e/${file})
    target_link_libraries(test_${name} kvik_engine kvik_testing GTest::gtest_main)
    target_include_directories(test_${name} PRIVATE tests)
    target_compile_definitions(test_${name} PRIVATE KVIK_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endforeach()
set(e2e e2e.turns e2e.sessions e2e.beams)

# test_contract  the machine-readable side    test_golden  what others compute
# test_misuse    exit codes and messages      test_bits    the same bits whichever way
# test_limits    memory, time, pipes          test_readme  the documents' examples run
# test_directories  Hugging Face directories
# test_chat      a conversation in a terminal (terminal.py: tmux)
# test_terminal  a hostile model file before every verb, in a terminal
# test_lab       short runs of the experiments
# test_crash     KV on disk: killed, damaged, deleted
# test_settings  arguments, variables, file; doctor
# test_several   several answers to one prompt
# test_habits    command lines of llama-cli and Ollama
# test_list      models of other programs, by their names
# test_pull      fetching a model, from a server that the test is
# test_ids_alone tokenizers and templates that kvik cannot use block text alone (tiny_gguf.py)
# test_head_widths  tiny models (tiny_model.py) whose heads are of any width
set(programs test_contract test_misuse test_settings test_directories test_several test_terminal
    test_habits test_list test_pull test_ids_alone test_head_widths)
set(turns test_turns)
if(KVIK_SANITIZED)
    # What a sanitizer's shadow memory and slowness would falsify is not measured, and ten turns
    # walk no path that two do not; the laws of reuse hold over the hash model there.
    list(APPEND turns --gtest_filter=-*_costs_*:*ten_of_them*)
else()
    add_test(NAME e2e.reuse COMMAND test_reuse)
    add_test(NAME e2e.budget COMMAND test_budget)
    list(APPEND e2e e2e.reuse e2e.budget)
    list(APPEND programs test_golden test_bits test_limits test_lab test_readme test_chat test_crash)
endif()
add_test(NAME e2e.turns COMMAND ${turns})
add_test(NAME e2e.sessions COMMAND test_sessions)
add_test(NAME e2e.beams COMMAND test_beams)
foreach(name ${programs})
    add_test(NAME e2e.${name} COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/e2e/${name}.py)
    list(APPEND e2e e2e.${name})
endforeach()
set_tests_properties(${e2e} PROPERTIES
    LABELS e2e
    TIMEOUT 900
    ENVIRONMENT "KVIK_BINARY=$<TARGET_FILE:kvik>")
# Some of the release build's tests measure time; under a sanitizer nothing does.
if(NOT KVIK_SANITIZED)
    set_tests_properties(${e2e} PROPERTIES RUN_SERIAL ON)
endif()

# Instructions of fixed steps, against tests/instructions/expected.csv: what a change costs on a
# machine whose clock says nothing. The numbers are of an optimised build.
if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    add_executable(count_steps tests/instructions/steps.cpp)
    target_link_libraries(count_steps kvik_testing kvik_model)
    set(count ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/instructions/count.py $<TARGET_FILE:count_steps>
        --compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    add_test(NAME instructions COMMAND ${count})
    set_tests_properties(instructions PROPERTIES LABELS instructions TIMEOUT 600)
    add_custom_target(write_instructions COMMAND ${count} --write DEPENDS count_steps VERBATIM)
endif()
