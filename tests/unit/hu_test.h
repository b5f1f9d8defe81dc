/* hu_test.h: what every unit test starts with. */
#ifndef HU_TEST_H
#define HU_TEST_H

#include "base/error.h"
#include <check.h>
#include <stdlib.h>

/* Runs the cases of one suite; the closing line is Check's. Each test forks, so a crash fails one test only. */
static inline int hu_test_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define ck_assert_ok(call)                                                                                             \
    do {                                                                                                               \
        hu_status hu_test_status = (call);                                                                             \
        ck_assert_msg(hu_test_status == HU_OK, "%s: status %d: %s", #call, (int)hu_test_status, err.message);          \
    } while (0)

#endif
