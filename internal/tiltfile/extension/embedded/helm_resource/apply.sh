#!/bin/sh
# Installs or upgrades a release, and writes its objects to standard output as YAML.
#
#   apply.sh RELEASE CHART [FLAG…]
#
# The flags are helm's, except those that put an image into the values: @image:N:KEY puts the whole reference,
# @registry:N:KEY, @path:N:KEY (without the registry), @repository:N:KEY (with it) and @tag:N:KEY put a part. Image N is
# in TILT_IMAGE_N.
set -eu

release=$1 chart=$2
shift 2

# part prints a part of an image's reference.
part() {
  case $2 in
    *@*) repository=${2%%@*} tag=${2#*@} ;;
    *) repository=${2%:*} tag=${2##*:} ;;
  esac
  registry=docker.io path=$repository
  case $repository in
    */*) first=${repository%%/*} ;;
    *) first= ;;
  esac
  case $first in
    *.* | *:* | localhost) registry=$first path=${repository#*/} ;;
  esac
  case $1 in
    image) printf %s "$2" ;;
    registry) printf %s "$registry" ;;
    path) printf %s "$path" ;;
    repository) printf %s "$repository" ;;
    tag) printf %s "$tag" ;;
  esac
}

# Each word moves from the front of the list to its end; flags for images are converted to helm's.
left=$#
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  case $word in
    @*:*:*)
      what=${word%%:*} key=${word#*:}
      number=${key%%:*} key=${key#*:}
      eval "image=\${TILT_IMAGE_$number:-}"
      if [ -z "$image" ]; then
        echo "TILT_IMAGE_$number is not set: there is no image for $key" >&2
        exit 1
      fi
      set -- "$@" --set-string "$key=$(part "${what#@}" "$image")"
      ;;
    *) set -- "$@" "$word" ;;
  esac
done

if [ -n "${HONE_HELM_UPDATE_DEPENDENCIES:-}" ]; then
  helm dependency update "$chart" >&2
fi
helm upgrade --install "$release" "$chart" "$@" >&2

set --
if [ -n "${HONE_HELM_NAMESPACE:-}" ]; then
  set -- --namespace "$HONE_HELM_NAMESPACE"
fi
manifest=$(helm get manifest "$release" "$@")
# The manifest omits the namespace of many objects; the cluster knows it.
if [ -n "$manifest" ] && command -v kubectl > /dev/null 2>&1; then
  printf '%s\n' "$manifest" | kubectl get "$@" --ignore-not-found -o yaml -f -
else
  printf '%s\n' "$manifest"
fi
