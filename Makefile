# `make help` says what there is. What is built lies in .venv, target and ~/.cache/fabriclab, and is built once.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
CASES ?= 20000
SONIC_CONFIGS ?= $(sort $(wildcard tests/golden/sonic/*.json))
SEED ?= 1
CONTAINERLAB ?=
TEST_OPTIONS ?=
VENV := .venv
BIN := $(VENV)/bin
PARTS := kernel rootfs small-rootfs tools
# The environment is made anew when what it is made from changes: settings of ruff and what follows them in
# pyproject.toml are no part of that.
VENV_KEY = { sed '/^\[tool\.ruff\]/,$$d' pyproject.toml; cat .ci/locks/{dev,notebook,docs}.txt; $(PYTHON) --version; pwd; } 2>/dev/null | sha256sum | cut -c1-16
# Workers by tests/conftest.py; bytecode is kept, for each of them imports everything.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n auto --dist loadgroup
VENV_STAMP := $(VENV)/.made-$(shell $(VENV_KEY))
# By a lock, which does not name fabriclab: to install that anew would take it away from what runs beside.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-input --require-hashes -r
# Ubuntu's newer Rusts lie beside its own, in a directory each.
RUST := $(if $(wildcard /usr/lib/rust-*/bin),$(shell source .ci/rust.sh; rust_directory))
export PATH := $(if $(RUST),$(RUST):)$(PATH)
.PHONY: help deps venv machine page charts wheel vscode release recordings images notebook docs site site-packages demo test quick coverage test-rust $(PARTS:%=part-%) test-kernel test-containers fuzz lock audit check sonic-oracle sonic-trial bench bench-cores figures clean
SCRIPTS = $(shell git ls-files | xargs grep -lE '^#!.*\b(ba)?sh\b|^\# shellcheck shell=bash' 2>/dev/null)

help: ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install the packages that are missing, by apt or dnf (or print the line that does)
	@.ci/deps

venv: $(VENV_STAMP) ## the Python environment, .venv

# A fresh host may have no Python yet: then only afterwards is it known which one it is made from.
$(VENV_STAMP):
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || .ci/deps
	@echo "installing the Python packages of .ci/locks into $(VENV): a minute or two"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@.ci/packages $(VENV)
	@touch $(VENV)/.made-$$($(VENV_KEY))

# Who has a built machine needs no compilers to run it.
machine: ## build what is missing of the virtual machine: kernel, root file system, tools (4 minutes the first time)
	@where=$$(images/machine/build --where); if grep -q '=$$' <<<"$$where"; then .ci/deps; fi
	@images/machine/build

page: venv ## what the browser loads of the live page (docs/live.md) and of reports: seconds, then cached
	@$(BIN)/python .ci/page.py >/dev/null

charts: venv # what reports are drawn with in a browser
	@$(BIN)/python .ci/page.py charts >/dev/null

wheel: deps venv ## wheels that run labs without a checkout, in dist: fabriclab, and fabriclab_frr for labs with FRR
	@$(BIN)/python .ci/wheel.py

vscode: venv ## the extension for VS Code (docs/language/editors.md), as a file in dist that the editor installs
	@$(BIN)/python .ci/vscode.py

release: deps venv machine page ## everything of a release but the push, in dist: DRAFT=1 of any state, NO_IMAGE=1 without the container image
	@$(BIN)/python .ci/release.py $(if $(DRAFT),--draft) $(if $(NO_IMAGE),--no-image)

recordings: venv machine page ## record the terminal and the live page that README shows (minutes; needs Chromium and ImageMagick)
	@$(BIN)/python .ci/recordings.py

images: machine page ## build the container images with Docker or Podman (for --engine containerlab and docker compose)
	@images/build
	@mkdir -p runs

notebook: machine venv ## JupyterLab with the notebooks of analysis/, for this computer alone (installs it the first time: a minute)
	@$(BIN)/python -c 'import jupyterlab, scipy' 2>/dev/null || { echo "installing JupyterLab into $(VENV): about a minute"; \
	  $(INSTALL) .ci/locks/notebook.txt; }
	@exec $(BIN)/jupyter lab --ServerApp.ip=127.0.0.1 --LabApp.default_url=/lab/tree/analysis/start.ipynb \
	  --LabApp.news_url= --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate

docs: site-packages ## the documentation, served on this computer's loopback; changes show at once
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --strict --dev-addr 127.0.0.1:8088

site: site-packages ## the documentation as files, in site: opens from the disk, search and all
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

site-packages: venv
	@$(BIN)/python -c 'import material, mkdocstrings' 2>/dev/null || { echo "installing MkDocs into $(VENV): seconds"; \
	  $(INSTALL) .ci/locks/docs.txt; }

demo: ## run the in-cast lab, write its report (builds what is missing, and says what and for how long)
	@.ci/demo $(VENV_STAMP)

# A kernel's build leaves a core idle while it downloads, unpacks and links; the other builds, and Rust's tests, wait
# much, too. So all of them go side by side. Through a pipe, what each is at comes as lines, not as one line that all of
# them would write.
test: deps ## all tests: Python, the machine, Rust (builds what is missing)
	@$(MAKE) --no-print-directory -j5 page site-packages $(PARTS:%=part-%) test-rust 2> >(cat >&2)
	@$(PYTEST) --slowest $(TEST_OPTIONS)

# What a change of this branch touches, or the core; nothing is built, and nothing boots the machine.
quick: venv ## the tests that your change touches, in less than a minute
	@$(BIN)/python tests/support/quick.py

# Of lines and branches that tests reach in their own processes: twice their time, so apart from `test`.
coverage: deps venv ## how much of the package the quick tests cover, and whether that is enough
	@$(PYTEST) -m 'not no_cover' --cov --cov-report=

# Without MAKEFLAGS: what they start counts its own jobs.
$(PARTS:%=part-%): part-%:
	@env -u MAKEFLAGS -u MFLAGS images/machine/build $*

test-rust:
	@env -u MAKEFLAGS -u MFLAGS cargo test --quiet --locked --workspace

test-kernel: deps venv machine ## the switch's kernel code on a kernel that checks memory and locks (builds one: 10 minutes the first time)
	@KERNEL_DEBUG=1 images/machine/build kernel
	@KERNEL_DEBUG=1 $(BIN)/pytest -n0 tests/kernel

# Cases that differ by more than they may fail. What was measured stays in runs/containers, and the next call goes on with what is left.
test-containers: venv machine page ## the container engine on a stock kernel, in QEMU: CONTAINERLAB=PATH, MINUTES=60, JOBS=2, ONLY=TEXT (images/guest/README.md; hours)
	@WANT_GUEST=1 .ci/deps
	@CONTAINERLAB="$(CONTAINERLAB)" $(BIN)/python tests/containers/whole.py runs/containers $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only "$(ONLY)") $(if $(KEEP),--keep)

fuzz: venv ## mutants of labs, of importers' inputs, of bundles and plans: CASES=20000, SEED=1 (files of findings: runs/fuzz)
	@PYTHONPATH=tests/support $(BIN)/python tests/fuzz/campaign.py --cases $(CASES) --seed $(SEED) --keep runs/fuzz

lock: ## newest versions of Python packages, and of the images' base, into what pins them (.ci/locks, images/base.digest)
	@.ci/lock

# No part of `check`: it needs the databases, and what they say changes by the day.
audit: venv ## known vulnerabilities of what the locks name: Python, npm, Rust; fails also where a database can't be asked
	@$(BIN)/python .ci/audit.py

check: deps venv ## style and types, nothing is run
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/vulture
	@$(BIN)/vulture fabriclab tests
	@$(BIN)/python .ci/imports.py
	@cargo fmt --check
	@cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	@shellcheck -x $(SCRIPTS)
	@.ci/checkpatch

sonic-oracle: venv ## SONiC's daemons beside our reading: SONIC_ROOT=DIR (docker-sonic-vs unpacked), SONIC_CONFIGS="FILES" (images/sonic/README.md)
	@test -n "$(SONIC_ROOT)" || { echo "SONIC_ROOT=DIR is missing: a root file system with SONiC's daemons, such as docker-sonic-vs unpacked" >&2; exit 2; }
	@$(BIN)/fabriclab sonic oracle --daemons $(SONIC_ROOT) $(SONIC_CONFIGS)

sonic-trial: venv ## try docker-sonic-vs here and write a report to send: IMAGE=docker-sonic-vs:202511, REPORT=FILE (images/sonic/README.md)
	@images/sonic/trial --fabriclab $(BIN)/fabriclab "$(IMAGE)" "$(or $(REPORT),sonic-trial.txt)"

bench: venv machine ## how fast the machine is
	@for bench in tests/bench/*.py; do echo "== $$bench"; $(BIN)/python "$$bench"; done

bench-cores: venv machine ## what a fat-tree gains by this host's cores, a line for 1, 2, 4, ...: K=16 for a larger one (docs/cores.md)
	@$(BIN)/python tests/bench/cores.py $(if $(K),--k $(K))

# What stays running beside it goes first: all of a lab takes from seconds to an hour.
figures: venv ## run labs' published matrices again, write their tables and pictures, say what moved: LAB=incast, LABS="a b", ON=dask://HOST:8786 on a cluster, DRY=1 compares only
	@$(if $(DRY),,images/machine/build)
	@nice -n 10 $(BIN)/fabriclab figures $(LAB) $(LABS) $(if $(ON),--on $(ON)) $(if $(DRY),--check)
	@$(BIN)/fabriclab studies $(if $(DRY),,--write)

clean: ## remove what was built here (not the artefact cache, ~/.cache/fabriclab)
	@rm -rf $(VENV) target runs dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
