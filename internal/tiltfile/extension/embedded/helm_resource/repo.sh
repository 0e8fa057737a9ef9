#!/bin/sh
# Adds a chart repository.
#
#   repo.sh NAME URL [USER]
#
# The password comes in HONE_HELM_REPO_PASSWORD.
set -eu

name=$1 url=$2 user=${3:-}
set -- "$name" "$url" --force-update
[ -z "$user" ] || set -- "$@" --username "$user"
if [ -n "${HONE_HELM_REPO_PASSWORD:-}" ]; then
  printf '%s' "$HONE_HELM_REPO_PASSWORD" | helm repo add "$@" --password-stdin
else
  helm repo add "$@"
fi
