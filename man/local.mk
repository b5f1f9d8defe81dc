# manual pages
dist_man_MANS += man/sptrsv-solve.1 man/hpcutils.7 man/hpcutils-formats.5
dist_man_MANS += man/perf-predict.1
dist_man_MANS += man/spmm-pack.1
dist_man_MANS += man/trace-compress.1 man/hpcutils-trace.5
dist_man_MANS += man/qp-diff.1
