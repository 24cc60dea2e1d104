# The menu: `make` alone prints each target that has a "##" comment.
SHELL := bash
.DEFAULT_GOAL := menu
.PHONY: menu setup build chat test asan tsan fuzz soak bench lab versus table counts golden oracles tidy lint format clean

SOURCES = $(shell git ls-files '*.h' '*.cpp')
SECONDS_EACH ?= 60
OPS ?= 1000000

menu:
	@echo "make TARGET, one of:"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 12

setup: ## install what is missing (Debian packages)
	@scripts/setup

build: setup ## build/release/kvik
	@. scripts/lib.sh && build release kvik

chat: ## talk to SmolLM2
	@scripts/chat

test: ## all tests, release build
	@scripts/test

asan: ## all tests under AddressSanitizer and UBSan
	@scripts/sanitize asan

tsan: ## the tests with threads under ThreadSanitizer
	@scripts/sanitize tsan

fuzz: ## each fuzz target for SECONDS_EACH (60) seconds
	@scripts/fuzz $(SECONDS_EACH)

soak: setup ## OPS (1000000) random operations on the cache, beside its naive twin
	@. scripts/lib.sh && build release test_testing
	@KVIK_OPS=$(OPS) build/release/test_testing --gtest_filter='*RandomOperations*'

bench: build ## speed of this machine
	@scripts/fetch-model smollm2
	@build/release/kvik bench .models/smollm2-135m-q4_1.gguf

lab: build ## the experiments, a page with plots for each, into build/lab
	@scripts/fetch-model smollm2 gemma3
	@scripts/venv || true
	@build/release/kvik lab multiturn .models/smollm2-135m-q4_1.gguf --out build/lab/smollm2
	@build/release/kvik lab multiturn .models/gemma3-270m-q4_k_m.gguf --out build/lab/gemma3
	@build/release/kvik lab eviction --out build/lab/eviction

versus: build ## speed beside another engine: make versus PEER=path/to/llama-bench
	@scripts/fetch-model smollm2
	@bench/versus.py --peer "$(PEER)"

table: build ## all that bench/history keeps: make table MODELS=folder PEER=path/to/llama-bench
	@bench/table.py "$(MODELS)" "$(PEER)"

counts: setup ## count the instructions of fixed steps anew, once a change of them is meant
	@. scripts/lib.sh && build release write_instructions
	@git diff --stat tests/instructions/expected.csv

golden: build ## what others compute, compared
	@scripts/fetch-model smollm2 gemma3
	@python3 tests/e2e/test_golden.py

oracles: ## the records of tests/golden beside what others compute now (6 GB of Python packages)
	@scripts/oracles

tidy: ## the laws of the tree
	@tools/tidy.py

lint: ## clang-format and clang-tidy
	@scripts/lint

format: ## clang-format in place
	@scripts/setup checks
	@clang-format -i $(SOURCES)

clean: ## remove build
	@rm -rf build
