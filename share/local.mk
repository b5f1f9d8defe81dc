# share: files that the programs read: installed in pkgdatadir, and copied beside the programs of a build folder (lib/base/share.h)
dist_pkgdata_DATA = share/sptrsv-schemes.ppm
EXTRA_DIST += share/README.md share/sptrsv-schemes.csv.xz
noinst_DATA = share/copied
share/copied: $(srcdir)/share/sptrsv-schemes.ppm
	@$(MKDIR_P) share
	@test '$(srcdir)' = . || cp -f $(srcdir)/share/sptrsv-schemes.ppm share/
	@touch $@
CLEANFILES += share/copied
clean-local:
	test '$(srcdir)' = . || rm -f share/sptrsv-schemes.ppm
