# One folder a program.
include bin/sptrsv-solve/local.mk
include bin/perf-predict/local.mk
include bin/qp-diff/local.mk
include bin/spmm-pack/local.mk
include bin/trace-compress/local.mk
