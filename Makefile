# `make help` says what there is. What is built lies in .venv, target and ~/.cache/fabriclab, and is built once.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help deps venv machine images demo test test-kernel check bench clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment is made anew when what it is made from changes.
VENV_KEY := $(shell { cat pyproject.toml; $(PYTHON) --version; pwd; } 2>/dev/null | sha256sum | cut -c1-16)
VENV_STAMP := $(VENV)/.made-$(VENV_KEY)
SCRIPTS = $(shell git ls-files | xargs grep -lE '^#!.*\b(ba)?sh\b|^\# shellcheck shell=bash' 2>/dev/null)

help: ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install the Debian packages that are missing (or print the line that does)
	@.ci/deps

venv: $(VENV_STAMP) ## the Python environment, .venv

$(VENV_STAMP):
	@echo "installing the Python packages of pyproject.toml into $(VENV)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

machine: deps ## build what is missing of the virtual machine: kernel, root file system, tools (5 minutes the first time)
	@images/machine/build

images: machine ## build the Docker images: host, switch, lab, notebook (for --engine containerlab and docker compose)
	@images/build
	@mkdir -p runs

demo: venv machine ## run the in-cast lab, write its report
	@$(BIN)/fabriclab sweep labs/incast

test: venv machine ## all tests: Python, the machine, Rust (builds what is missing)
	@cargo test --quiet --workspace
	@$(BIN)/pytest -n auto --dist loadgroup

test-kernel: venv machine ## the switch's kernel code on a kernel that checks memory and locks (builds one: 10 minutes the first time)
	@KERNEL_DEBUG=1 images/machine/build kernel
	@KERNEL_DEBUG=1 $(BIN)/pytest -n0 tests/kernel

check: deps venv ## style and types, nothing is run
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@cargo fmt --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings
	@shellcheck -x $(SCRIPTS)

bench: venv machine ## how fast the machine is
	@for bench in tests/bench/*.py; do echo "== $$bench"; $(BIN)/python "$$bench"; done

clean: ## remove what was built here (not the artefact cache, ~/.cache/fabriclab)
	@rm -rf $(VENV) target runs .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
