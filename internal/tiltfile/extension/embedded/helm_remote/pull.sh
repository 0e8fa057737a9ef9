#!/bin/sh
# Fetches a chart into a folder, which is created atomically.
#
#   pull.sh FOLDER CHART URL REPOSITORY VERSION USER
#
# URL, VERSION and USER may be empty; the password comes in HONE_HELM_PASSWORD.
set -eu

folder=$1 chart=$2 url=$3 repository=$4 version=$5 user=$6
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/.pull.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# password passes the password to a command on its input, where no list of processes shows it.
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

# Some versions of helm leave an empty folder, named after the archive, next to the chart.
chart_folder=
for found in "$work"/chart/*/; do
  if [ -f "$found/Chart.yaml" ]; then chart_folder=${found%/}; fi
done
if [ -z "$chart_folder" ]; then
  echo "helm pull $* succeeded, but it left no folder with a Chart.yaml. It left:" >&2
  (cd "$work" && find chart) >&2
  exit 1
fi

# A folder without Chart.yaml is left over from an aborted fetch.
if [ -e "$folder" ] && [ ! -f "$folder/Chart.yaml" ]; then mv "$folder" "$work/broken"; fi
# Moving a folder into another one under its own name is a single rename, which fails if there is such a folder by now:
# then another process was faster, and its chart is as good.
name=$(basename "$folder")
mkdir "$work/whole"
mv "$chart_folder" "$work/whole/$name"
mv "$work/whole/$name" "$(dirname "$folder")/" 2>"$work/error" || [ -f "$folder/Chart.yaml" ] || {
  echo "keep the chart in $folder: $(cat "$work/error")" >&2
  exit 1
}
