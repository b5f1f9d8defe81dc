"""SciPy's side of the benchmarks: one process that does what a script does.

peers_scipy.py command MATRIX.mtx RHS.npy OUT.npy   read, solve, write; prints nothing, the caller times the process
peers_scipy.py solve MATRIX.mtx RHS.npy REPETITIONS prints the seconds of each solve with the matrix in memory
peers_scipy.py version
"""
import sys
import time

import numpy
import scipy
import scipy.io
import scipy.sparse.linalg


def main(mode, *words):
    if mode == "version":
        print(f"SciPy {scipy.__version__}, NumPy {numpy.__version__}")
        return
    matrix = scipy.sparse.csr_matrix(scipy.io.mmread(words[0]))
    b = numpy.load(words[1])
    if mode == "command":
        numpy.save(words[2], scipy.sparse.linalg.spsolve_triangular(matrix, b, lower=True))
        return
    matrix.sum_duplicates()
    for _ in range(int(words[2])):
        start = time.perf_counter()
        scipy.sparse.linalg.spsolve_triangular(matrix, b, lower=True)
        print(f"{time.perf_counter() - start:.6f}")


main(*sys.argv[1:])
