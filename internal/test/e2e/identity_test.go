package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hone-dev/hone/internal/cluster/deploy"
)

const movable = `
-- Tiltfile --
k8s_yaml(['kept.yaml', 'dropped.yaml'])
-- kept.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: kept}
-- dropped.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: dropped}
`

// in makes hone run in a folder as a shell would: the path is not resolved.
func (p *project) in(dir string) {
	p.dir, p.env = dir, []string{"PWD=" + dir}
}

// TestIdentity works on one project by two paths and after its folder was moved: objects that left the YAML are
// collected, the others stay as they are, and down finds all of them.
func TestIdentity(t *testing.T) {
	t.Parallel()
	p := newProject(t, movable)
	real := p.dir
	s := p.up()
	s.ready("uncategorized")
	first := p.object("", "v1", "configmaps", "kept")
	s.stop()

	p.in(real + "-link")
	if err := os.Symlink(real, p.dir); err != nil {
		t.Fatal(err)
	}
	p.replace("Tiltfile", "['kept.yaml', 'dropped.yaml']", "'kept.yaml'")
	s = p.up()
	s.ready("uncategorized")
	p.gone("", "v1", "configmaps", "dropped")
	s.stop()
	if strings.Contains(s.out.String(), "another project") {
		t.Errorf("by a link it is said to be another project:\n%s", s.out)
	}

	p.in(real + "-moved")
	if err := os.Rename(real, p.dir); err != nil {
		t.Fatal(err)
	}
	s = p.up()
	s.says(`kept:configmap \(unchanged\)`)
	s.ready("uncategorized")
	s.stop()
	again := p.object("", "v1", "configmaps", "kept")
	if first.GetUID() != again.GetUID() || first.GetLabels()[deploy.LabelProject] != again.GetLabels()[deploy.LabelProject] {
		t.Errorf("kept was %v, and is %v after the move", first.Object["metadata"], again.Object["metadata"])
	}
	p.write("Tiltfile", "this is no program")
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "deleted kept") {
		t.Errorf("down: code %d\n%s", code, out)
	}
	p.gone("", "v1", "configmaps", "kept")
}

// TestFormerIdentity takes over records and labels from the time when the path on the command line identified a project.
func TestFormerIdentity(t *testing.T) {
	t.Parallel()
	p := newProject(t, movable)
	real, link := p.dir, p.dir+"-link"
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		t.Fatal(err)
	}
	// The project was used by both paths, and there were no records of projects.
	ids := map[string]string{}
	for _, dir := range []string{real, link} {
		sum := sha256.Sum256([]byte(filepath.Join(dir, "Tiltfile") + "\x00" + config.CurrentContext))
		ids[dir] = hex.EncodeToString(sum[:])[:12]
	}
	ledgers := filepath.Join(p.state, "hone", "ledger")
	forget := func(id string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(p.state, "hone", "projects")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(ledgers, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ledgers, "gone-"+id+".json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forget(ids[link])
	p.in(link)
	s := p.up()
	s.ready("uncategorized")
	s.stop()
	if got := p.object("", "v1", "configmaps", "kept").GetLabels()[deploy.LabelProject]; got != ids[link] {
		t.Fatalf("the object belongs to project %s, want %s", got, ids[link])
	}
	forget(ids[real])

	p.in(real)
	p.replace("Tiltfile", "['kept.yaml', 'dropped.yaml']", "'kept.yaml'")
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || strings.Contains(out, "deleted") {
		t.Errorf("nothing leads from the real path to the link yet: code %d\n%s", code, out)
	}
	p.object("", "v1", "configmaps", "kept")
	p.in(link)
	s = p.up()
	p.gone("", "v1", "configmaps", "dropped")
	s.ready("uncategorized")
	s.stop()
	if strings.Contains(s.out.String(), "another project") {
		t.Errorf("its own objects are said to be another project's:\n%s", s.out)
	}
	p.in(real)
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "deleted kept") {
		t.Errorf("down: code %d\n%s", code, out)
	}
	if left, _ := filepath.Glob(filepath.Join(ledgers, "*-"+ids[link]+".json")); len(left) != 1 {
		t.Errorf("the ledger of the link in this cluster was not taken over: %v", left)
	}
}
