# samples
EXTRA_DIST += samples/README.md samples/make samples/grid7.mtx samples/grid7-b.npy samples/convection.mtx samples/poisson9.mtx
EXTRA_DIST += samples/blocks3.mtx samples/exact.mtx samples/exact-b.npy samples/exact-x.npy samples/upper.mtx samples/upper-b.mtx
EXTRA_DIST += samples/upper-x.mtx samples/chain.mtx samples/tree.tar.gz samples/tree-x.mtx
EXTRA_DIST += samples/heat.c samples/pairs.c
EXTRA_DIST += samples/kernels.csv samples/trace.json.gz samples/nodes.csv samples/jobs.csv
EXTRA_DIST += samples/ring.mtz
EXTRA_DIST += samples/mpi/ring.c
EXTRA_DIST += samples/mpi/halo2d.c
EXTRA_DIST += samples/mpi/workers.c
EXTRA_DIST += samples/mpi/alltoallv.c
EXTRA_DIST += samples/mpi/polls.c
EXTRA_DIST += samples/mpi/ring_f08.f90
EXTRA_DIST += samples/tiles.txt samples/tiles-run
