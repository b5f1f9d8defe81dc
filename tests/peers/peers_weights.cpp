// peers_weights.cpp: Eigen, XNNPACK, LIBXSMM and CBLAS behind peers_weights.h.
//
// Sections: Eigen, XNNPACK, LIBXSMM, dense, all of them.
#include "config.h"
#include "peers_weights.h"

#include <cblas.h>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#ifdef HAVE_PEER_EIGEN
#include <Eigen/Sparse>
#endif
#ifdef HAVE_PEER_XNNPACK
#include <xnnpack.h>
#endif
#ifdef HAVE_PEER_XSMM
#include <libxsmm.h>
#endif

namespace
{

std::vector<float> dense_of(const peer_weight &a)
{
    std::vector<float> d(size_t(a.rows * a.cols));
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) d[size_t(i * a.cols + a.col[p])] = a.val[p];
    return d;
}

template <class Data> void multiply(void *data, const float *b, float *c)
{
    static_cast<Data *>(data)->multiply(b, c);
}

template <class Data> void release(void *data)
{
    delete static_cast<Data *>(data);
}

template <class Data> void add(const char *name, const peer_weight &a, int64_t k, peer_product *products, int &n)
{
    auto data = std::make_unique<Data>(a, k);
    if (!data->works()) return;
    products[n++] = {name, data.release(), multiply<Data>, release<Data>};
}

// ---- Eigen

#ifdef HAVE_PEER_EIGEN
struct eigen_product {
    using rows_of = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::SparseMatrix<float, Eigen::RowMajor> a;
    int64_t k;

    eigen_product(const peer_weight &w, int64_t columns) : k(columns)
    {
        std::vector<int> ptr(w.row_ptr, w.row_ptr + w.rows + 1);
        a = Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor>>(w.rows, w.cols, w.nnz, ptr.data(), w.col, w.val);
    }
    bool works() const { return true; }
    void multiply(const float *b, float *c) const { Eigen::Map<rows_of>(c, a.rows(), k).noalias() = a * Eigen::Map<const rows_of>(b, a.cols(), k); }
};
#endif

// ---- XNNPACK: a convolution of 1 x 1 over an image of 1 x k whose channels are the columns of the weight

#ifdef HAVE_PEER_XNNPACK
struct xnnpack_product {
    xnn_operator_t op = nullptr;
    int64_t k;

    xnnpack_product(const peer_weight &w, int64_t columns) : k(columns)
    {
        const std::vector<float> d = dense_of(w);
        if (xnn_initialize(nullptr) != xnn_status_success) return;
        if (xnn_create_convolution2d_nchw_f32(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, size_t(w.cols), size_t(w.rows), size_t(w.cols), size_t(w.rows), d.data(), nullptr, -INFINITY, INFINITY, 0, &op) !=
            xnn_status_success)
            op = nullptr;
    }
    ~xnnpack_product() { xnn_delete_operator(op); }
    bool works() const { return op != nullptr; }
    void multiply(const float *b, float *c) const
    {
        xnn_setup_convolution2d_nchw_f32(op, 1, 1, size_t(k), b, c, nullptr);
        xnn_run_operator(op, nullptr);
    }
};
#endif

// ---- LIBXSMM

#ifdef HAVE_PEER_XSMM
struct xsmm_product {
    libxsmm_sfsspmdm *handle = nullptr;

    xsmm_product(const peer_weight &w, int64_t k)
    {
        const std::vector<float> d = dense_of(w);
        handle = libxsmm_sfsspmdm_create(int(w.rows), int(k), int(w.cols), int(w.cols), int(k), int(k), 1, 0, 0, d.data());
    }
    ~xsmm_product() { if (handle) libxsmm_sfsspmdm_destroy(handle); }
    bool works() const { return handle != nullptr; }
    void multiply(const float *b, float *c) const { libxsmm_sfsspmdm_execute(handle, b, c); }
};
#endif

// ---- dense

struct dense_product {
    std::vector<float> a;
    int m, n, k;

    dense_product(const peer_weight &w, int64_t columns) : a(dense_of(w)), m(int(w.rows)), n(int(w.cols)), k(int(columns)) {}
    bool works() const { return true; }
    void multiply(const float *b, float *c) const { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, k, n, 1, a.data(), n, b, k, 0, c, k); }
};

} // namespace

// ---- all of them

int peer_products_open(const peer_weight *a, int64_t k, int64_t most_xsmm, peer_product *products)
{
    int n = 0;
#ifdef HAVE_PEER_EIGEN
    add<eigen_product>("Eigen", *a, k, products, n);
#endif
#ifdef HAVE_PEER_XNNPACK
    add<xnnpack_product>("XNNPACK", *a, k, products, n);
#endif
#ifdef HAVE_PEER_XSMM
    if (a->nnz <= most_xsmm) add<xsmm_product>("LIBXSMM", *a, k, products, n);
#else
    (void)most_xsmm;
#endif
    add<dense_product>("dense", *a, k, products, n);
    return n;
}

const char *peer_products_absent()
{
    static const std::string text = std::string()
#ifndef HAVE_PEER_EIGEN
        + "Eigen "
#endif
#ifndef HAVE_PEER_XNNPACK
        + "XNNPACK "
#endif
#ifndef HAVE_PEER_XSMM
        + "LIBXSMM "
#endif
        ;
    return text.c_str();
}

const char *peer_products_versions()
{
    static const std::string text = std::string("dense: CBLAS")
#ifdef HAVE_PEER_EIGEN
        + ", Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION)
#endif
#ifdef HAVE_PEER_XNNPACK
        + ", XNNPACK"
#endif
#ifdef HAVE_PEER_XSMM
        + ", LIBXSMM " LIBXSMM_VERSION
#endif
        ;
    return text.c_str();
}
