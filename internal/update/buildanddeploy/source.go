package buildanddeploy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/ledger"
)

// Tree is the working tree of a Tiltfile. It is empty without version control.
type Tree struct {
	// Prefix is the path of the Tiltfile's folder from the root of the tree, with slashes.
	Prefix string
	Commit string
	// Uncommitted is set if tracked files differ from the commit.
	Uncommitted bool
}

// evaluation is an evaluation of the Tiltfile.
type evaluation struct {
	number int
	// origin describes the files as they were when the first revision of the evaluation began.
	origin func() ledger.Origin
}

// newEvaluation returns an evaluation that has read some files, as model.Tiltfile.Read has them.
func (c *Cluster) newEvaluation(number int, read map[string]uint64) *evaluation {
	return &evaluation{number, sync.OnceValue(func() ledger.Origin {
		var tree Tree
		if c.tree != nil {
			tree = c.tree()
		}
		o := c.origin
		o.Evaluation, o.Commit, o.Uncommitted = number, tree.Commit, tree.Uncommitted
		if c.tiltfile != "" {
			o.Tiltfile, o.Digest = c.nameIn(tree, c.tiltfile), c.digest(tree, read)
		}
		return o
	})}
}

// from describes the operation, for the revision that it makes.
func (c *Cluster) from() ledger.Origin {
	if e := c.evaluation.Load(); e != nil {
		return e.origin()
	}
	return c.origin
}

// nameIn returns the path of a file from the root of the working tree, which is the same in every clone. A file outside of it, such as the
// Tiltfile of an extension, has only its name.
func (c *Cluster) nameIn(tree Tree, file string) string {
	from, err := filepath.Rel(filepath.Dir(c.tiltfile), file)
	name := path.Join(tree.Prefix, filepath.ToSlash(from))
	if err != nil || strings.HasPrefix(name, "../") {
		return filepath.Base(file)
	}
	return name
}

// digest returns the digest of the files that an evaluation has read; empty if it has read none.
func (c *Cluster) digest(tree Tree, read map[string]uint64) string {
	var lines []string
	for file, content := range read {
		if content != 0 { // it exists
			lines = append(lines, fmt.Sprintf("%s %016x\n", c.nameIn(tree, file), content))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:8])
}
