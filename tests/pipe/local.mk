# tests/pipe: the programs as a user runs them. `make check TESTS=tests/pipe/io.sh` runs one file.
PIPE_TESTS = tests/pipe/options.sh tests/pipe/io.sh tests/pipe/rhs.sh tests/pipe/faults.sh tests/pipe/bits.sh
PIPE_TESTS += tests/pipe/plan.sh tests/pipe/explain.sh tests/pipe/hostile.sh tests/pipe/manual.sh tests/pipe/solvers.sh
PIPE_TESTS += tests/pipe/perf-predict.sh
TESTS += $(PIPE_TESTS)
EXTRA_DIST += tests/pipe/lib.sh $(PIPE_TESTS)
TESTS += tests/pipe/samples.sh
EXTRA_DIST += tests/pipe/samples.sh
