# unit/ (Check), pipe/ (programs over real pipes), fuzz/ (libFuzzer targets), peers/ (side-by-side benchmarks)
UNIT_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/unit -I$(srcdir)/bin $(CHECK_CFLAGS)
UNIT_LIBS = $(HU_LIBS) $(CHECK_LIBS)
include tests/tools/local.mk
include tests/unit/local.mk
include tests/simt/local.mk
include tests/pipe/local.mk
include tests/fuzz/local.mk
include tests/peers/local.mk
