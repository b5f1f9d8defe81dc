# samples
EXTRA_DIST += samples/README.md samples/make samples/grid7.mtx samples/grid7-b.npy samples/convection.mtx samples/poisson9.mtx
EXTRA_DIST += samples/blocks3.mtx samples/exact.mtx samples/exact-b.npy samples/exact-x.npy samples/upper.mtx samples/upper-b.mtx
EXTRA_DIST += samples/upper-x.mtx samples/chain.mtx samples/tree.tar.gz samples/tree-x.mtx
EXTRA_DIST += samples/heat.c samples/pairs.c
