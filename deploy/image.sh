#!/bin/sh
# Builds the image with docker, podman or buildah, whichever is there: `deploy/image.sh`, in a checkout.
#
#   IMAGE      name and tag                                      (trident:VERSION)
#   PLATFORMS  linux/amd64, linux/arm64, or both with a comma    (that of this machine)
#   VERSION, COMMIT  what -version shows
#   BUILDER    docker, podman or buildah, instead of the first that is there
#
# With several platforms podman and buildah make one manifest list of the name IMAGE; docker needs a builder that can
# (docker buildx create --use) and PUSH=1, since it keeps no such lists itself: it sends them to the registry of IMAGE.
set -eu
cd "$(dirname "$0")/.."
: "${VERSION:=dev}" "${COMMIT:=}" "${BUILDER:=}"
: "${IMAGE:=trident:$VERSION}" "${PLATFORMS:=}" "${PUSH:=}"

if [ -z "$BUILDER" ]; then
  for b in docker podman buildah; do
    if command -v "$b" >/dev/null; then BUILDER=$b; break; fi
  done
fi
[ -n "$BUILDER" ] ||
  { echo 'no docker, podman or buildah here; `make rootfs` builds the root file system without them' >&2; exit 1; }

set -- --file deploy/Dockerfile --build-arg "VERSION=$VERSION" --build-arg "COMMIT=$COMMIT"
[ -z "$PLATFORMS" ] || set -- "$@" --platform "$PLATFORMS"
case $BUILDER in
docker)
  # buildx knows platforms and keeps file capabilities.
  case $PLATFORMS in
  *,*) [ -n "$PUSH" ] || { echo 'docker builds several platforms only with PUSH=1' >&2; exit 1; } ;;
  *) [ -n "$PUSH" ] || set -- "$@" --load ;;
  esac
  [ -z "$PUSH" ] || set -- "$@" --push
  set -- docker buildx build "$@" --tag "$IMAGE" .
  ;;
podman | buildah)
  case $PLATFORMS in
  *,*) set -- "$@" --manifest "$IMAGE" ;;
  *) set -- "$@" --tag "$IMAGE" ;;
  esac
  set -- "$BUILDER" build "$@" .
  ;;
*)
  echo "BUILDER is $BUILDER, want docker, podman or buildah" >&2
  exit 1
  ;;
esac
echo "+ $*" >&2
"$@"
if [ "$BUILDER" != docker ] && [ -n "$PUSH" ]; then
  case $PLATFORMS in
  *,*) exec "$BUILDER" manifest push --all "$IMAGE" "docker://$IMAGE" ;;
  *) exec "$BUILDER" push "$IMAGE" ;;
  esac
fi
