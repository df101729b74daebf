# Every step of a run. CONFIG names the data set, OUT holds what the run leaves.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CONFIG ?= default
OUT ?= out/$(basename $(notdir $(CONFIG)))
ARGS ?=
WORKERS ?= 1
RUNNER ?= direct
SERVING ?=

PYTHON := .venv/bin/python
RUN := --config $(CONFIG) --out $(OUT) $(ARGS)

.PHONY: help setup demo generate preprocess train export verify predict serve doctor check test quality

help: ## Print the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/installed ## Make the virtual environment from the locked requirements

.venv/installed: requirements.lock
	@echo "installing the locked requirements into .venv"
	@test -x $(PYTHON) || python3.11 -m venv .venv || python3 -m venv .venv
	@.venv/bin/pip install --quiet uv && .venv/bin/uv pip sync --quiet --python $(PYTHON) --require-hashes requirements.lock && touch $@

demo: setup ## Run everything on a generated log: preprocess, train, export, verify, predict
	@$(PYTHON) -m serving demo $(RUN)

generate: setup ## Write the default impression log
	@$(PYTHON) -m pipeline generate --out data/default/impressions.csv

preprocess: setup ## Write TFRecords from the log
	@$(PYTHON) -m pipeline preprocess $(RUN) --runner $(RUNNER)

train: setup ## Train the model
	@$(PYTHON) -m models train $(RUN) --workers $(WORKERS)

export: setup ## Export the trained model as a new version
	@$(PYTHON) -m serving export $(RUN)

verify: setup ## Prove that served scores are the trained ones
	@$(PYTHON) -m serving verify $(RUN) $(if $(SERVING),--serving $(SERVING))

predict: setup ## Score rows over gRPC: make predict ARGS="--input rows.csv"
	@$(PYTHON) -m serving predict $(RUN) $(if $(SERVING),--serving $(SERVING))

serve: setup ## Serve the exported model over gRPC until stopped
	@$(PYTHON) -m serving serve $(RUN)

doctor: setup ## Say whether this machine has what the pipeline needs
	@$(PYTHON) -m serving doctor

check: setup ## Lint, type-check and test everything
	@.venv/bin/ruff check . && .venv/bin/ruff format --check .
	@.venv/bin/mypy features pipeline models serving tests
	@$(PYTHON) -m pytest

test: setup ## Run the tests alone
	@$(PYTHON) -m pytest

quality: setup ## Repeat every configuration that states a test AUC and compare
	@$(PYTHON) -m benchmarks.quality
