#!/bin/sh
# Checks out a repository, or brings a checkout up to date.
#
#   checkout.sh FOLDER URL REF UNSAFE
#
# REF and UNSAFE may be empty. If UNSAFE is not empty, changes in the folder may be lost.
set -eu

folder=$1 url=$2 ref=$3 unsafe=$4
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_TERMINAL_PROMPT=0

if [ ! -e "$folder" ] || [ -z "$(ls -A "$folder")" ]; then
  git clone --quiet -- "$url" "$folder"
  if [ -n "$ref" ]; then
    git -C "$folder" -c advice.detachedHead=false checkout --quiet "$ref" --
  fi
  exit 0
fi
if [ ! -e "$folder/.git" ]; then
  echo "$folder already exists and is not a git repository; move it away, or name another folder" >&2
  exit 1
fi
force=
if [ -n "$unsafe" ]; then
  force=--force
elif [ -n "$(git -C "$folder" status --porcelain)" ]; then
  echo "$folder has uncommitted changes; commit them, or pass unsafe_mode=True to lose them" >&2
  exit 1
fi
if git -C "$folder" fetch --quiet -- "$url" "${ref:-HEAD}"; then
  git -C "$folder" checkout --quiet --detach $force FETCH_HEAD --
else
  echo "$url cannot be reached; $folder stays as it is" >&2
fi
