// simt_test.h: what every test of emulated kernels starts with.
#ifndef HU_SIMT_TEST_H
#define HU_SIMT_TEST_H

#include "base/error.h"
#include "simt.h"

#include <check.h>
#include <cstdio>
#include <cstdlib>

static inline void check_ok(hu_status status, const hu_error &err) { ck_assert_msg(status == HU_OK, "status %d: %s", int(status), err.message); }

// With more than one block at a time blocks start in any order, and threads are interrupted anywhere.
static inline void configure(uint64_t seed, unsigned resident, bool races)
{
    simt::options o;
    o.seed = seed;
    o.resident = resident;
    o.shuffle_blocks = resident > 1;
    o.preempt = resident > 1 ? 8 : 0;
    o.races = races;
    simt::configure(o);
    simt::clear_findings();
}

static inline void want_none()
{
    for (const auto &f : simt::findings()) ck_abort_msg("%s", simt::describe(f).c_str());
}

static inline int run_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
