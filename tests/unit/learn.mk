# unit tests of lib/learn
check_PROGRAMS += unit_learn_forest
TESTS += unit_learn_forest
unit_learn_forest_SOURCES = tests/unit/test_forest.c tests/unit/hu_test.h
unit_learn_forest_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_learn_forest_LDADD = $(UNIT_LIBS)
check_PROGRAMS += unit_learn_model
TESTS += unit_learn_model
unit_learn_model_SOURCES = tests/unit/test_model.c tests/unit/hu_test.h
unit_learn_model_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_learn_model_LDADD = $(UNIT_LIBS)
check_PROGRAMS += unit_learn_permute
TESTS += unit_learn_permute
unit_learn_permute_SOURCES = tests/unit/test_permute.c tests/unit/hu_test.h
unit_learn_permute_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/bin/perf-predict
unit_learn_permute_LDADD = libperfpredict.la $(UNIT_LIBS)
