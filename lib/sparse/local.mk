# lib/sparse
libcommon_la_SOURCES += lib/sparse/csr.c lib/sparse/csr.h
