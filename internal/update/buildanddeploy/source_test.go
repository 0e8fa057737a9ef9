package buildanddeploy

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/ledger"
)

// TestOrigin: a revision says from which commit and files it comes, in the same words in every clone.
func TestOrigin(t *testing.T) {
	t.Parallel()
	tree := Tree{Prefix: "shop/", Commit: "8c11d07a", Uncommitted: true}
	read := map[string]uint64{"Tiltfile": 1, "api/api.yaml": 2, "../lib/Tiltfile": 3, "/usr/share/ext/Tiltfile": 4, "missing.yaml": 0}
	origin := func(clone string, tree *Tree, read map[string]uint64) ledger.Origin {
		dir, files := filepath.Join(clone, "shop"), map[string]uint64{}
		for name, content := range read {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			files[name] = content
		}
		c := &Cluster{tiltfile: filepath.Join(dir, "Tiltfile"), origin: ledger.Origin{Run: "1", Command: "ci"}}
		if tree != nil {
			c.tree = func() Tree { return *tree }
		}
		c.Declare(nil, files)
		return c.from()
	}
	first := origin("/home/ann/code", &tree, read)
	want := ledger.Origin{Run: "1", Evaluation: 1, Command: "ci", Commit: "8c11d07a", Uncommitted: true, Tiltfile: "shop/Tiltfile", Digest: first.Digest}
	if diff := cmp.Diff(want, first); diff != "" || len(first.Digest) != 16 {
		t.Fatalf("digest %q; the origin (-want +got):\n%s", first.Digest, diff)
	}
	if diff := cmp.Diff(want, origin("/src", &tree, read)); diff != "" {
		t.Errorf("another clone (-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct {
		file    string
		content uint64
	}{
		"the Tiltfile": {"Tiltfile", 9}, "a loaded file": {"../lib/Tiltfile", 9}, "an extension": {"/usr/share/ext/Tiltfile", 9}, "a new file": {"missing.yaml", 9},
	} {
		other := map[string]uint64{}
		for f, content := range read {
			other[f] = content
		}
		other[tc.file] = tc.content
		if got := origin("/src", &tree, other).Digest; got == want.Digest {
			t.Errorf("%s is another, and the digest is the same", name)
		}
	}
	if got := origin("/src", nil, read); got.Tiltfile != "Tiltfile" || got.Digest == "" || got.Commit != "" {
		t.Errorf("without version control: %+v", got)
	}
	if got := (&Cluster{tiltfile: "/src/Tiltfile"}).newEvaluation(0, nil).origin(); got.Tiltfile != "Tiltfile" || got.Digest != "" {
		t.Errorf("without an evaluation: %+v", got)
	}
}
