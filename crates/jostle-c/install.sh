#!/usr/bin/env bash
# Installs the libraries, the headers and jostle.pc. `cargo build --release -p jostle-c` comes first.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: crates/jostle-c/install.sh [--prefix DIR] [--libdir DIR] [--includedir DIR] [--from DIR]

  --prefix DIR      where to install (/usr/local)
  --libdir DIR      libraries, and jostle.pc in pkgconfig/ (PREFIX/lib)
  --includedir DIR  jostle.h and jostle.hpp (PREFIX/include)
  --from DIR        where cargo has put the libraries (target/release)

DESTDIR in the environment is put before all of them, for packages.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=/usr/local libdir='' includedir=''
from=${CARGO_TARGET_DIR:-$here/../../target}/release
while (($#)); do
  case $1 in
    --prefix | --libdir | --includedir | --from)
      (($# > 1)) || { usage >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    --help | -h) usage; exit ;;
    *) usage >&2; exit 2 ;;
  esac
done
libdir=${libdir:-$prefix/lib} includedir=${includedir:-$prefix/include}
# jostle.pc is read from elsewhere.
for folder in prefix libdir includedir; do
  [[ ${!folder} == /* ]] || printf -v "$folder" %s "$PWD/${!folder}"
done
destination=${DESTDIR:-}

workspace=$here/../../Cargo.toml
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$workspace" | head -n 1)
# As `build.rs` names the library: before 1.0 a new minor version may break what is linked with the last.
case $version in
  0.*) compatible=${version%.*} ;;
  *) compatible=${version%%.*} ;;
esac
case $(uname -s) in
  Darwin) shared=libjostle.dylib full=libjostle.$version.dylib soname=libjostle.$compatible.dylib ;;
  *) shared=libjostle.so full=libjostle.so.$version soname=libjostle.so.$compatible ;;
esac
for library in "$shared" libjostle.a; do
  [[ -f $from/$library ]] || { echo "no $from/$library: cargo build --release -p jostle-c" >&2; exit 1; }
done

# Made before anything is installed: a name that it cannot hold ends the script here.
in_sed() { printf %s "$1" | sed 's/[&|\\]/\\&/g'; }
described=$(sed -e "s|@prefix@|$(in_sed "$prefix")|" -e "s|@libdir@|$(in_sed "$libdir")|" \
  -e "s|@includedir@|$(in_sed "$includedir")|" -e "s|@version@|$version|" "$here/jostle.pc.in")

install -d "$destination$libdir/pkgconfig" "$destination$includedir"
# Programs ask for the compatible version, the linker for the bare name.
install -m 755 "$from/$shared" "$destination$libdir/$full"
ln -sf "$full" "$destination$libdir/$soname"
ln -sf "$soname" "$destination$libdir/$shared"
install -m 644 "$from/libjostle.a" "$destination$libdir/libjostle.a"
install -m 644 "$here/include/jostle.h" "$here/include/jostle.hpp" "$destination$includedir/"
printf '%s\n' "$described" >"$destination$libdir/pkgconfig/jostle.pc"
echo "installed in $destination$libdir and $destination$includedir"
