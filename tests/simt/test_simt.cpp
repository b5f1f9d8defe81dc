// test_simt.cpp: the emulator finds one planted fault of each kind at its place, and is silent about sound kernels, under many seeds.
#include "cuda_runtime.h"
#include "faults.h"
#include "simt_test.h"

#include <numeric>

using simt::kind;

namespace {

constexpr uint64_t SEEDS = 20;

template <class T> struct buffer { // device memory, from and to a vector
    T *p = nullptr;
    size_t n;
    explicit buffer(size_t n_) : n(n_) { ck_assert_int_eq(cudaMalloc(&p, n * sizeof(T)), cudaSuccess); }
    explicit buffer(const std::vector<T> &v) : buffer(v.size()) { ck_assert_int_eq(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess); }
    ~buffer() { cudaFree(p); }
    buffer(const buffer &) = delete;
    std::vector<T> get() const
    {
        std::vector<T> v(n);
        ck_assert_int_eq(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
        return v;
    }
};
template <class T> buffer<T> zeros(size_t n) { return buffer<T>(std::vector<T>(n)); }

void configure(uint64_t seed, unsigned resident = 1) { ::configure(seed, resident, true); }

bool found(kind what)
{
    for (const auto &f : simt::findings())
        if (f.what == what) return true;
    return false;
}

// The fault must be found, nothing else, and be placed in the kernel's source.
void want_only(kind what, const char *kernel)
{
    ck_assert_msg(!simt::findings().empty(), "no %s was found in %s", simt::name_of(what), kernel);
    for (const auto &f : simt::findings()) {
        ck_assert_msg(f.what == what, "not the planted %s: %s", simt::name_of(what), simt::describe(f).c_str());
        ck_assert_msg(f.where.find("faults.cu:") == 0 && f.kernel.find(kernel) != std::string::npos, "no place: %s", simt::describe(f).c_str());
    }
}

std::vector<int> count_up(size_t n)
{
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    return v;
}

} // namespace

START_TEST(sound_block_sum)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        configure(seed, 1 + unsigned(seed % 3));
        buffer<int> x(count_up(3 * 128)), sum(3);
        launch_block_sum(true, x.p, sum.p, 3);
        want_none();
        for (int b = 0; b < 3; b++) ck_assert_int_eq(sum.get()[size_t(b)], 128 * (128 * b) + 127 * 64);
    }
}
END_TEST

START_TEST(missing_barrier)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        configure(seed);
        buffer<int> x(count_up(128)), sum(1);
        launch_block_sum(false, x.p, sum.p, 1);
        ck_assert_msg(found(kind::race) || found(kind::unwritten), "seed %d found nothing", int(seed));
    }
}
END_TEST

START_TEST(divergent_barriers)
{
    configure(1);
    auto x = zeros<int>(64);
    launch_divergent_barrier(x.p);
    want_only(kind::barrier, "divergent_barrier");
    configure(1);
    launch_barrier_after_return(x.p, 40);
    want_only(kind::barrier, "barrier_after_return");
    configure(1);
    launch_barrier_after_return(x.p, 64);
    want_none();
}
END_TEST

START_TEST(shared_memory)
{
    configure(1);
    auto x = zeros<int>(64);
    launch_read_unwritten_shared(x.p);
    want_only(kind::unwritten, "read_unwritten_shared");
    configure(1);
    launch_beyond_shared(x.p);
    want_only(kind::bounds, "beyond_shared");
}
END_TEST

START_TEST(device_memory)
{
    configure(1);
    buffer<double> x(std::vector<double>(100, 3.0));
    launch_scale(false, x.p, 100);
    want_none();
    ck_assert(x.get() == std::vector<double>(100, 6.0));
    launch_scale(true, x.p, 100);
    want_only(kind::bounds, "scale<1>");

    configure(1);
    double *gone;
    ck_assert_int_eq(cudaMalloc(&gone, 800), cudaSuccess);
    launch_scale(false, gone, 100);
    want_only(kind::unwritten, "scale<0>");
    simt::clear_findings();
    cudaFree(gone);
    launch_scale(false, gone, 100);
    want_only(kind::bounds, "scale<0>");
    ck_assert_int_eq(cudaFree(gone), cudaErrorInvalidValue);

    configure(1);
    std::vector<double> host(100);
    launch_scale(false, host.data(), 100);
    want_only(kind::bounds, "scale<0>");
}
END_TEST

START_TEST(misaligned_vector)
{
    configure(1);
    buffer<float> x(std::vector<float>(64, 1.0f)), y(8);
    launch_load_vector(x.p, y.p, 4);
    want_none();
    ck_assert(y.get() == std::vector<float>(8, 4.0f));
    launch_load_vector(x.p, y.p, 1);
    want_only(kind::misaligned, "load_vector");
}
END_TEST

START_TEST(races_between_blocks)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        std::vector<int> key(256);
        for (size_t i = 0; i < key.size(); i++) key[i] = int(i % 5);
        buffer<int> k(key);
        auto histogram = zeros<int>(5);
        configure(seed, 4);
        launch_count(true, k.p, histogram.p, 256);
        want_none();
        ck_assert(histogram.get() == (std::vector<int>{52, 51, 51, 51, 51}));
        launch_count(false, k.p, histogram.p, 256);
        want_only(kind::race, "count<false>");
    }
}
END_TEST

START_TEST(warps)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        std::vector<float> v(64);
        for (size_t i = 0; i < v.size(); i++) v[i] = float(i);
        buffer<float> x(v), sum(2);
        configure(seed, 2);
        launch_warp_sum(true, x.p, sum.p, 2);
        want_none();
        ck_assert(sum.get() == (std::vector<float>{496, 1520}));
        launch_warp_sum(false, x.p, sum.p, 2);
        want_only(kind::warp, "warp_sum<false>");
        configure(seed);
        auto y = zeros<int>(32);
        launch_mixed_warp_operations(y.p);
        want_only(kind::warp, "mixed_warp_operations");
        configure(seed);
        buffer<int> ones(std::vector<int>(32, 1));
        launch_groups_then_warp(ones.p, y.p);
        want_none();
        ck_assert(y.get() == std::vector<int>(32, 8 * 8 * 8));
        configure(seed);
        launch_warp_exchange(true, y.p);
        want_none();
        ck_assert_int_eq(y.get()[3], 28);
        launch_warp_exchange(false, y.p);
        ck_assert(found(kind::race) || found(kind::unwritten));
    }
}
END_TEST

START_TEST(warp_words)
{
    configure(7);
    std::vector<int> v(32);
    for (size_t i = 0; i < 32; i++) v[i] = int(i % 8 + (i / 8) * 8);
    buffer<int> x(v);
    buffer<unsigned> out(224);
    launch_warp_words(x.p, out.p);
    want_none();
    auto r = out.get();
    for (unsigned t = 0; t < 32; t++) {
        unsigned quarter = 0xffu << (t & 24), first = t & 24;
        ck_assert_uint_eq(r[t], 0xaaaaaaaau);
        ck_assert_uint_eq(r[32 + t], 1u << t);                 // all values differ
        ck_assert_uint_eq(r[64 + t], quarter);                 // v / 8 is the same in a quarter
        ck_assert_uint_eq(r[96 + t], 1);
        ck_assert_uint_eq(r[128 + t], 8 * first + 28);
        ck_assert_uint_eq(r[160 + t], t % 8 < 3 ? t : t - 3);
        ck_assert_uint_eq(r[192 + t], (t & 16) + 5);
    }
}
END_TEST

static void run_chain(handover how, uint64_t seed, unsigned resident, std::vector<int> &total)
{
    std::vector<int> value(12);
    for (size_t i = 0; i < value.size(); i++) value[i] = int(i * i);
    buffer<int> v(value);
    auto t = zeros<int>(12), flag = zeros<int>(12), ticket = zeros<int>(1);
    configure(seed, resident);
    launch_chain(how, v.p, t.p, flag.p, ticket.p, 12);
    total = t.get();
}

START_TEST(blocks_that_wait)
{
    std::vector<int> total, right(12);
    for (int i = 0, sum = 0; i < 12; i++) right[size_t(i)] = sum += i * i;
    bool race = false;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (unsigned resident : {1u, 3u, 12u}) {
            run_chain(handover::acquire, seed, resident, total);
            want_none();
            ck_assert(total == right);
            run_chain(handover::fences, seed, resident, total);
            want_none();
            ck_assert(total == right);
        }
        run_chain(handover::no_order, seed, 4, total);
        race = race || found(kind::race);
        run_chain(handover::lost, seed, 4, total);
        want_only(kind::hang, "chain<handover::lost>");
    }
    ck_assert_msg(race, "a flag without a fence was not found in %d seeds", int(SEEDS));
    run_chain(handover::by_index, 1, 2, total);         // the blocks that come first wait for the last ones, which cannot start
    want_only(kind::hang, "chain<handover::by_index>");
}
END_TEST

START_TEST(runtime)
{
    void *p;
    simt::set_device_memory(1 << 20);
    ck_assert_int_eq(cudaMalloc(&p, 2 << 20), cudaErrorMemoryAllocation);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
    ck_assert_int_eq(cudaGetLastError(), cudaSuccess);
    ck_assert_int_eq(cudaMalloc(&p, 1000), cudaSuccess);
    char word[8] = "";
    ck_assert_int_eq(cudaMemcpy(word, p, 1001, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemcpy(p, word, 8, cudaMemcpyHostToDevice), cudaSuccess);
    ck_assert_int_eq(cudaFree(p), cudaSuccess);
    simt::set_device_memory(size_t(1) << 30);
    ck_assert_int_eq(cudaSetDevice(1), cudaErrorInvalidDevice);
}
END_TEST

int main()
{
    Suite *s = suite_create("simt");
    TCase *c = tcase_create("emulator");
    tcase_add_test(c, sound_block_sum);
    tcase_add_test(c, missing_barrier);
    tcase_add_test(c, divergent_barriers);
    tcase_add_test(c, shared_memory);
    tcase_add_test(c, device_memory);
    tcase_add_test(c, misaligned_vector);
    tcase_add_test(c, races_between_blocks);
    tcase_add_test(c, warps);
    tcase_add_test(c, warp_words);
    tcase_add_test(c, blocks_that_wait);
    tcase_add_test(c, runtime);
    suite_add_tcase(s, c);
    return run_suite(s);
}
