# lib/base: what everything stands on
libcommon_la_SOURCES += lib/base/error.c lib/base/error.h
libcommon_la_SOURCES += lib/base/memory.c lib/base/memory.h
libcommon_la_SOURCES += lib/base/clock.c lib/base/clock.h
libcommon_la_SOURCES += lib/base/random.c lib/base/random.h
libcommon_la_SOURCES += lib/base/parallel.c lib/base/parallel.h
libcommon_la_SOURCES += lib/base/output.c lib/base/output.h
libcommon_la_SOURCES += lib/base/option.c lib/base/option.h
libcommon_la_SOURCES += lib/base/progress.c lib/base/progress.h
libcommon_la_SOURCES += lib/base/crc32c.c lib/base/crc32c.h
libcommon_la_SOURCES += lib/base/number.c lib/base/number.h
libcommon_la_SOURCES += lib/base/keys.c lib/base/keys.h
libcommon_la_SOURCES += lib/base/number.c lib/base/number.h
libcommon_la_SOURCES += lib/base/share.c lib/base/share.h
libcommon_la_SOURCES += lib/base/folder.c lib/base/folder.h
