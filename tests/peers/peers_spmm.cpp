// peers_spmm.cpp: Eigen's and librsb's products of a sparse matrix and a row-major dense one.
#include "config.h"
#include "peers_spmm.h"

#include <cstdio>
#include <vector>

#ifdef HAVE_PEER_EIGEN
#include <Eigen/Sparse>

namespace {
using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor, int>;
using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct EigenProduct {
    Sparse a;
    Eigen::Index k;
};

void eigen_multiply(void *data, const float *b, float *c)
{
    const auto *p = static_cast<EigenProduct *>(data);
    Eigen::Map<Dense>(c, p->a.rows(), p->k).noalias() = p->a * Eigen::Map<const Dense>(b, p->a.cols(), p->k);
}

void eigen_release(void *data) { delete static_cast<EigenProduct *>(data); }

int eigen_open(const spmm_peer_matrix *m, int64_t k, spmm_peer *ret)
{
    std::vector<int> ptr(m->row_ptr, m->row_ptr + m->rows + 1);
    const Eigen::Map<const Sparse> view(m->rows, m->cols, m->nnz, ptr.data(), m->col, m->val);
    *ret = {"Eigen", new EigenProduct{Sparse(view), static_cast<Eigen::Index>(k)}, eigen_multiply, eigen_release};
    return 1;
}
} // namespace
#endif

#ifdef HAVE_PEER_RSB
#include <rsb.h>

namespace {
struct RsbProduct {
    rsb_mtx_t *a;
    int64_t k;
};

void rsb_multiply(void *data, const float *b, float *c)
{
    const auto *p = static_cast<RsbProduct *>(data);
    const float one = 1, zero = 0;
    rsb_spmm(RSB_TRANSPOSITION_N, &one, p->a, static_cast<rsb_coo_idx_t>(p->k), RSB_FLAG_WANT_ROW_MAJOR_ORDER, b, static_cast<rsb_nnz_idx_t>(p->k), &zero, c, static_cast<rsb_nnz_idx_t>(p->k));
}

void rsb_release(void *data)
{
    auto *p = static_cast<RsbProduct *>(data);
    rsb_mtx_free(p->a);
    delete p;
}

int rsb_open(const spmm_peer_matrix *m, int64_t k, spmm_peer *ret)
{
    rsb_err_t err = RSB_ERR_NO_ERROR;
    static const bool ready = rsb_lib_init(RSB_NULL_INIT_OPTIONS) == RSB_ERR_NO_ERROR;
    if (!ready) return 0;
    const std::vector<rsb_coo_idx_t> ptr(m->row_ptr, m->row_ptr + m->rows + 1), col(m->col, m->col + m->nnz);
    rsb_mtx_t *a = rsb_mtx_alloc_from_csr_const(m->val, ptr.data(), col.data(), static_cast<rsb_nnz_idx_t>(m->nnz), RSB_NUMERICAL_TYPE_FLOAT, static_cast<rsb_coo_idx_t>(m->rows),
                                                static_cast<rsb_coo_idx_t>(m->cols), RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS, &err);
    if (!a) return 0;
    *ret = {"librsb", new RsbProduct{a, k}, rsb_multiply, rsb_release};
    return 1;
}
} // namespace
#endif

int spmm_peers_open(const spmm_peer_matrix *a, int64_t k, spmm_peer ret_peers[SPMM_PEERS_MOST])
{
    int n = 0;
#ifdef HAVE_PEER_EIGEN
    n += eigen_open(a, k, ret_peers + n);
#endif
#ifdef HAVE_PEER_RSB
    n += rsb_open(a, k, ret_peers + n);
#endif
    return n;
}

void spmm_peers_versions(char *ret_text, int size)
{
    int used = 0;
    ret_text[0] = '\0';
#ifdef HAVE_PEER_EIGEN
    used += std::snprintf(ret_text, static_cast<size_t>(size), "Eigen %d.%d.%d ", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
#endif
#ifdef HAVE_PEER_RSB
    std::snprintf(ret_text + used, static_cast<size_t>(size - used), "librsb");
#endif
}
