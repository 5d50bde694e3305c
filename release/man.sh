#!/bin/sh
# Makes man pages of the manuals: `release/man.sh DIRECTORY`, in a checkout, with Go. VERSION and SOURCE_DATE_EPOCH (the
# time of the commit by default) are what the pages say of themselves.
set -eu
out=${1:?directory to write to}
: "${VERSION:=dev}"
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
date=$(TZ=UTC0 date -d "@$when" '+%B %Y' 2>/dev/null || TZ=UTC0 date -r "$when" '+%B %Y')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The converter by version, built once.
GOBIN="$work" GOFLAGS= go install github.com/cpuguy83/go-md2man/v2@v2.0.7

# page MANUAL NAME SECTION [DESCRIPTION]: the manual's own title gives way to that of a page, and a manual without a section
# Name gets one that holds the description.
page() {
  {
    printf '%% "%s" "%s" "%s" "Trident %s" "Trident"\n' "$(echo "$2" | tr a-z A-Z)" "$3" "$date" "$VERSION"
    [ -z "${4:-}" ] || printf '\n## NAME\n\n%s - %s\n\n## DESCRIPTION\n' "$2" "$4"
    sed -e 1d -e 's/^## Name$/## NAME/' "$1"
  } >"$work/page.md"
  "$work/go-md2man" -in "$work/page.md" -out "$out/$2.$3"
  # What man and whatis look for.
  grep -q "^\.TH \"$(echo "$2" | tr a-z A-Z)\" \"$3\"" "$out/$2.$3" && grep -q '^\.SH NAME$' "$out/$2.$3" ||
    { echo "$2.$3 has no title or no section NAME" >&2; exit 1; }
}

for plugin in hosts forward etcd fastudp; do
  page "$plugin/README.md" "coredns-$plugin" 7
done
page docs/check.md coredns-check 1 'checks a Corefile, and all that it names, without serving it'
page docs/skyctl.md skyctl 1 'keeps DNS records in etcd'
