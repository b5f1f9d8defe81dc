# unit tests: sparse
check_PROGRAMS += unit_sparse
TESTS += unit_sparse
unit_sparse_SOURCES = tests/unit/test_sparse.c tests/unit/hu_test.h tests/unit/test_matrices.h
unit_sparse_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_sparse_LDADD = $(UNIT_LIBS)
check_PROGRAMS += unit_dense unit_device
TESTS += unit_dense unit_device
unit_dense_SOURCES = tests/unit/test_dense.c tests/unit/hu_test.h
unit_dense_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_dense_LDADD = $(UNIT_LIBS)
unit_device_SOURCES = tests/unit/test_device.c tests/unit/hu_test.h
unit_device_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_device_LDADD = $(UNIT_LIBS)
