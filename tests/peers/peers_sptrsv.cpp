// peers_sptrsv.cpp: Eigen, CXSparse and librsb behind peers.h.
//
// Sections: Eigen, CXSparse, librsb, all of them.
#include "config.h"
#include "peers.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifdef HAVE_PEER_EIGEN
#include <Eigen/Sparse>
#endif
#ifdef HAVE_PEER_CXSPARSE
extern "C" {
#include HU_CS_HEADER
}
#endif
#ifdef HAVE_PEER_RSB
#include <rsb.h>
#endif

namespace
{

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Row pointers in the 32 bits that the libraries take.
std::vector<int> narrow(const peer_matrix &a)
{
    return std::vector<int>(a.row_ptr, a.row_ptr + a.n + 1);
}

template <class Data> void release(void *data)
{
    delete static_cast<Data *>(data);
}

template <class Data> void add(peer *peers, int &count, const char *name, const char *library, Data *data, double seconds)
{
    auto solve = [](void *d, double *x) { static_cast<Data *>(d)->solve(x); };
    peers[count++] = peer{name, library, data, solve, release<Data>, seconds};
}

// ---- Eigen

#ifdef HAVE_PEER_EIGEN
template <int Order> struct eigen_solve {
    Eigen::SparseMatrix<double, Order> t;

    explicit eigen_solve(const peer_matrix &a)
    {
        std::vector<int> ptr = narrow(a);
        t = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>(a.n, a.n, a.nnz, ptr.data(), a.col, a.val);
    }

    void solve(double *x) const
    {
        Eigen::Map<Eigen::VectorXd> v(x, t.rows());
        t.template triangularView<Eigen::Lower>().solveInPlace(v);
    }
};
#endif

// ---- CXSparse

#ifdef HAVE_PEER_CXSPARSE
struct cxsparse_solve {
    cs_di *t;

    explicit cxsparse_solve(const peer_matrix &a)
    {
        std::vector<int> ptr = narrow(a);
        cs_di rows = {static_cast<int>(a.nnz), static_cast<int>(a.n), static_cast<int>(a.n), ptr.data(),
                      const_cast<int32_t *>(a.col), const_cast<double *>(a.val), -1}; // as columns: the transpose
        t = cs_di_transpose(&rows, 1);
    }
    ~cxsparse_solve() { cs_di_spfree(t); }

    void solve(double *x) const { cs_di_lsolve(t, x); }
};
#endif

// ---- librsb

#ifdef HAVE_PEER_RSB
struct rsb_solve {
    struct rsb_mtx_t *t = nullptr;

    explicit rsb_solve(const peer_matrix &a)
    {
        static const rsb_err_t started = rsb_lib_init(RSB_NULL_INIT_OPTIONS);
        std::vector<int> ptr = narrow(a);
        rsb_err_t status = started;
        if (started == RSB_ERR_NO_ERROR)
            t = rsb_mtx_alloc_from_csr_const(a.val, ptr.data(), a.col, static_cast<rsb_nnz_idx_t>(a.nnz), RSB_NUMERICAL_TYPE_DOUBLE,
                                             static_cast<rsb_coo_idx_t>(a.n), static_cast<rsb_coo_idx_t>(a.n), 1, 1,
                                             RSB_FLAG_LOWER_TRIANGULAR, &status);
    }
    ~rsb_solve() { rsb_mtx_free(t); }

    void solve(double *x) const
    {
        const double one = 1.0;
        rsb_spsv(RSB_TRANSPOSITION_N, &one, t, x, 1, x, 1);
    }
};
#endif

} // namespace

// ---- all of them

extern "C" int peers_open(const peer_matrix *lower, peer ret_peers[PEERS_MOST])
{
    int count = 0;
    double start = now();
#ifdef HAVE_PEER_EIGEN
    auto *rows = new eigen_solve<Eigen::RowMajor>(*lower);
    add(ret_peers, count, "Eigen row-major", "Eigen", rows, now() - start);
    start = now();
    auto *columns = new eigen_solve<Eigen::ColMajor>(*lower);
    add(ret_peers, count, "Eigen column-major", "Eigen", columns, now() - start);
#endif
#ifdef HAVE_PEER_CXSPARSE
    start = now();
    auto cxsparse = std::make_unique<cxsparse_solve>(*lower);
    if (cxsparse->t) add(ret_peers, count, "CXSparse", "CXSparse", cxsparse.release(), now() - start);
#endif
#ifdef HAVE_PEER_RSB
    start = now();
    auto rsb = std::make_unique<rsb_solve>(*lower);
    if (rsb->t) add(ret_peers, count, "librsb", "librsb", rsb.release(), now() - start);
#endif
    (void)lower, (void)start;
    return count;
}

extern "C" void peers_versions(char *ret_text, int size)
{
    std::string text;
#ifdef HAVE_PEER_EIGEN
    text += "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
            std::to_string(EIGEN_MINOR_VERSION) + " ";
#endif
#ifdef HAVE_PEER_CXSPARSE
    text += "CXSparse " + std::to_string(CS_VER) + "." + std::to_string(CS_SUBVER) + "." + std::to_string(CS_SUBSUB) + " ";
#endif
#ifdef HAVE_PEER_RSB
    text += std::string(RSB_HEADER_VERSION_STRING) + " ";
#endif
    text += "g++ " __VERSION__;
    std::snprintf(ret_text, static_cast<size_t>(size), "%s", text.c_str());
}

extern "C" void peers_absent(char *ret_text, int size)
{
    std::string text;
#ifndef HAVE_PEER_EIGEN
    text += "Eigen ";
#endif
#ifndef HAVE_PEER_CXSPARSE
    text += "CXSparse ";
#endif
#ifndef HAVE_PEER_RSB
    text += "librsb ";
#endif
    std::snprintf(ret_text, static_cast<size_t>(size), "%s", text.c_str());
}

#ifdef HAVE_PEER_EIGEN
extern "C" int peer_eigen_pcg(const peer_matrix *whole, const double *b, double tolerance, double *x, int *ret_iterations,
                              double *ret_seconds)
{
    using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>; // its product with both halves runs on all threads
    using cholesky = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>;
    std::vector<int> ptr = narrow(*whole);
    matrix a = Eigen::Map<const matrix>(whole->n, whole->n, whole->nnz, ptr.data(), whole->col, whole->val);
    Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper, cholesky> cg;
    cg.preconditioner().setInitialShift(0.0);
    cg.setTolerance(tolerance);
    cg.compute(a);
    Eigen::Map<const Eigen::VectorXd> rhs(b, whole->n);
    double start = now();
    Eigen::Map<Eigen::VectorXd>(x, whole->n) = cg.solve(rhs);
    *ret_seconds = now() - start;
    *ret_iterations = static_cast<int>(cg.iterations());
    return cg.info() == Eigen::Success;
}
#else
extern "C" int peer_eigen_pcg(const peer_matrix *, const double *, double, double *, int *, double *)
{
    return 0;
}
#endif
