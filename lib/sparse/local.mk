# lib/sparse
libcommon_la_SOURCES += lib/sparse/csr.c lib/sparse/csr.h
libcommon_la_SOURCES += lib/sparse/ldl.c lib/sparse/ldl.h lib/sparse/ldl_private.h
libcommon_la_SOURCES += lib/sparse/ldl_simplicial.c
libcommon_la_SOURCES += lib/sparse/ldl_supernodal.c
