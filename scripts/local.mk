# scripts
EXTRA_DIST += scripts/bench
EXTRA_DIST += scripts/packages scripts/common.sh scripts/check scripts/quickstart .ci/run
EXTRA_DIST += README.md NEWS
