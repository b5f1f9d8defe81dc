# unit tests: traces
check_PROGRAMS += unit_io_trace
TESTS += unit_io_trace
unit_io_trace_SOURCES = tests/unit/test_trace.c tests/unit/hu_test.h
unit_io_trace_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_io_trace_LDADD = $(UNIT_LIBS)
check_PROGRAMS += unit_io_pack
TESTS += unit_io_pack
unit_io_pack_SOURCES = tests/unit/test_pack.c tests/unit/hu_test.h
unit_io_pack_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_io_pack_LDADD = $(UNIT_LIBS)
