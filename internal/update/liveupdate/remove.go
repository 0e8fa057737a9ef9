package liveupdate

import (
	"path"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// remove is a script that carries out the deletes of a plan. Its arguments come in pairs: the destination of a sync, and
// a path. It follows no symbolic link below the destination, and removes neither folders that are not empty nor mounts.
const remove = `while [ $# -gt 1 ]; do
  r=$1 p=$2 d=${2%/*}
  shift 2
  while [ ${#d} -gt ${#r} ] && [ ! -L "$d" ]; do d=${d%/*}; done
  [ ${#d} -le ${#r} ] || continue
  [ -e "$p" ] || [ -L "$p" ] || continue
  if [ -d "$p" ] && [ ! -L "$p" ]; then
    rmdir -- "$p" 2>/dev/null || :
    continue
  fi
  m=$(rm -f -- "$p" 2>&1) && continue
  c=$?
  case $m in *usy*) continue ;; esac
  printf '%s\n' "$m" >&2
  [ $c != 127 ] || exit 127
  exit ` + codeRemoveText + `
done`

// argBytes bounds the length of the paths in one command line. Kubernetes carries them in a URL.
const argBytes = 16 << 10

// deletions returns the arguments of remove, in groups that fit a command line.
func deletions(c model.ContainerRef, paths []string) [][]string {
	var out [][]string
	size := 0
	for i, p := range paths {
		root := destination(c.Syncs, p)
		more := len(root) + len(p) + 2*len("&command=")
		if i == 0 || size+more > argBytes {
			out, size = append(out, nil), 0
		}
		size += more
		out[len(out)-1] = append(out[len(out)-1], root, p)
	}
	return out
}

// destination returns the destination of the sync that a path in the container belongs to, the innermost of several.
func destination(syncs []model.Sync, p string) string {
	best := "/"
	for _, s := range syncs {
		r := path.Clean(s.RemotePath)
		if len(r) > len(best) && inside(r, p) {
			best = r
		}
	}
	return best
}

// inside reports whether a path in the container is a folder or lies below it.
func inside(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
