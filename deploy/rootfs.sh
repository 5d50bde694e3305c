#!/bin/sh
# Builds the root file system of the image in a directory: `deploy/rootfs.sh DIRECTORY`, in a checkout, with Go.
# GOOS, GOARCH, VERSION and COMMIT are taken from the environment. It needs root and setcap (Debian: libcap2-bin) to set
# owners and the file capability; without them it says so, and what it builds serves on ports from 1024 only.
set -eu
root=${1:?directory to build in}
user=65532

here=$(dirname "$0")
[ ! -e "$root" ] || { echo "$root is there already; remove it first" >&2; exit 1; }
mkdir -p "$root/etc/ssl/certs" "$root/etc/coredns" "$root/var/lib/trident" "$root/var/cache/trident"
root=$(cd "$root" && pwd)

cd "$here/.."
export CGO_ENABLED=0 GOOS="${GOOS:-linux}" GOARCH="${GOARCH:-$(go env GOARCH)}"
ldflags="-s -w -X main.version=${VERSION:-dev} -X github.com/coredns/coredns/coremain.GitCommit=${COMMIT:-}"
go build -ldflags "$ldflags" -o "$root/coredns" ./cmd/coredns
for tool in skyctl dummyif; do
  go build -ldflags "-s -w" -o "$root/$tool" "./cmd/$tool"
done

# The authorities that tls://, https:// and lists at https URLs are verified with.
for bundle in ${CA_BUNDLE:-/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem}; do
  [ ! -r "$bundle" ] || { cp "$bundle" "$root/etc/ssl/certs/ca-certificates.crt"; break; }
done
[ -s "$root/etc/ssl/certs/ca-certificates.crt" ] ||
  { echo 'no CA certificates on this machine (Debian: ca-certificates); CA_BUNDLE can name a file' >&2; exit 1; }

# An empty Corefile directory, to mount a Corefile into. Everybody may read, nobody may write but the user to its two.
find "$root" -maxdepth 1 -exec chmod 755 {} +
chmod 644 "$root/etc/ssl/certs/ca-certificates.crt"
chmod 750 "$root/var/lib/trident" "$root/var/cache/trident"
if [ "$(id -u)" != 0 ]; then
  echo 'not root: owners and the capability for port 53 are not set' >&2
  exit 0
fi
chown -R 0:0 "$root"
chown -R "$user:$user" "$root/var/lib/trident" "$root/var/cache/trident"
if command -v setcap >/dev/null; then
  # A user that is not root gets a capability of the container only if the file has it. Kubernetes, docker and podman
  # grant NET_BIND_SERVICE by default; where all are dropped it has to be added, or the program does not start at all.
  setcap cap_net_bind_service=+ep "$root/coredns"
else
  echo 'no setcap (Debian: libcap2-bin): the capability for port 53 is not set' >&2
fi
