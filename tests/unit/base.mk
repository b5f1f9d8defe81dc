# unit tests of lib/base
check_PROGRAMS += unit_base
TESTS += unit_base
unit_base_SOURCES = tests/unit/test_base.c tests/unit/hu_test.h
unit_base_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_base_LDADD = $(UNIT_LIBS)
