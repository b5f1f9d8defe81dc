# unit tests of spmm-pack's panels and generated kernels
SPMM_PANEL_TEST_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/bin/spmm-pack
SPMM_PANEL_TEST_LIBS = libspmmpack.la $(UNIT_LIBS)
check_PROGRAMS += unit_spmm_panel
TESTS += unit_spmm_panel
unit_spmm_panel_SOURCES = tests/unit/test_spmm_panel.c tests/unit/hu_test.h tests/unit/spmm_maker.h
unit_spmm_panel_CPPFLAGS = $(SPMM_PANEL_TEST_CPPFLAGS)
unit_spmm_panel_LDADD = $(SPMM_PANEL_TEST_LIBS)
