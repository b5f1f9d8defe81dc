# scripts/common.sh: what quickstart and check share: packages, configure, make. Read with `.`; needs $root, the source folder.

say() { printf '%s\n' "$*" >&2; }

# Installs the missing packages of the given groups. Returns 0 also where it cannot: then it says which are missing and the
# build goes on with what is there. Sets installed=yes where something changed.
install_packages() {
    local missing=() name
    installed=no
    if ! command -v dpkg-query >/dev/null 2>&1; then
        say "this is not a Debian system; the packages wanted are, by their Debian names:"
        say "  $("$root/scripts/packages" "$@" | tr '\n' ' ')"
        return 0
    fi
    for name in $("$root/scripts/packages" "$@"); do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
    done
    [[ ${#missing[@]} -eq 0 ]] && return 0
    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        if ! command -v sudo >/dev/null 2>&1; then
            say "not installed, and neither root nor sudo is at hand: ${missing[*]}"
            return 0
        fi
        as_root=(sudo)
    fi
    say "installing: ${missing[*]}"
    if "${as_root[@]}" apt-get update -qq </dev/null >&2 &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
    then installed=yes
    else say "warning: apt-get failed; going on with what is there"
    fi
    return 0
}

# configure_in FOLDER [configure options...]: makes FOLDER a build folder; a no-op where it is one, unless packages were installed.
configure_in() {
    local folder=$1
    shift
    if [[ ! -f $root/configure || ! -f $root/Makefile.in || $root/configure.ac -nt $root/configure ]]; then
        (cd "$root" && autoreconf -i) >&2 || return 1
    fi
    if [[ $installed == yes || ! -f $folder/Makefile || "$*" != "$(cat "$folder/.options" 2>/dev/null)" ]]; then
        mkdir -p "$folder"
        (cd "$folder" && "$root/configure" -q "$@" && printf '%s' "$*" >.options) >&2 || return 1
    fi
}

processors() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }
