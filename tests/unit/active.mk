# unit tests of active sampling
check_PROGRAMS += unit_io_journal unit_active
TESTS += unit_io_journal unit_active
unit_io_journal_SOURCES = tests/unit/test_journal.c tests/unit/hu_test.h tests/unit/io_test.h
unit_io_journal_CPPFLAGS = $(UNIT_CPPFLAGS)
unit_io_journal_LDADD = $(UNIT_LIBS)
unit_active_SOURCES = tests/unit/test_active.c tests/unit/hu_test.h tests/unit/io_test.h tests/peers/replay.c tests/peers/replay.h
unit_active_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/bin/perf-predict -I$(srcdir)/tests/peers
unit_active_LDADD = libperfpredict.la $(UNIT_LIBS)
