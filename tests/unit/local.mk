# Check, one file a module. Add a program per module: its name is unit_<folder>_<module>.
if HU_UNIT_TESTS
include tests/unit/base.mk
include tests/unit/learn.mk
include tests/unit/active.mk
include tests/unit/schedule.mk
include tests/unit/io.mk
include tests/unit/sparse.mk
include tests/unit/spmm.mk
include tests/unit/sptrsv.mk
include tests/unit/qp.mk
include tests/unit/tools.mk
include tests/unit/trace.mk
endif
include tests/unit/spmm_panel.mk
