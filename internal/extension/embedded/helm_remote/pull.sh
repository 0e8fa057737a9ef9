#!/bin/sh
# Fetches a chart into a folder, which appears whole or not at all.
#
#   pull.sh FOLDER CHART URL REPOSITORY VERSION USER
#
# URL, VERSION and USER may be empty; the password comes in HONE_HELM_PASSWORD.
set -eu

folder=$1 chart=$2 url=$3 repository=$4 version=$5 user=$6
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/.pull.XXXXXX")
trap 'rm -rf "$work"' EXIT

# password hands the password to a command on its input, where no list of processes shows it.
password() { printf '%s' "${HONE_HELM_PASSWORD:-}" | "$@" --username "$user" --password-stdin; }

case $url in
  oci://*)
    if [ -n "$user" ]; then
      host=${url#oci://}
      export HELM_REGISTRY_CONFIG="$work/registry.json"
      password helm registry login "${host%%/*}"
    fi
    set -- "${url%/}/$chart"
    ;;
  '')
    set -- "$repository/$chart"
    ;;
  *)
    set -- "$chart" --repo "$url"
    if [ -n "$user" ]; then
      export HELM_REPOSITORY_CONFIG="$work/repositories.yaml" HELM_REPOSITORY_CACHE="$work/cache"
      password helm repo add hone "$url"
      set -- "hone/$chart"
    fi
    ;;
esac
[ -z "$version" ] || set -- "$@" --version "$version"
helm pull "$@" --untar --untardir "$work/chart"

# Somebody else may have been faster; then theirs is as good.
for found in "$work"/chart/*/; do
  [ -f "$folder/Chart.yaml" ] || mv "$found" "$folder"
done
[ -f "$folder/Chart.yaml" ]
