//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	declared := map[string]string{"ConfigMap/a": "1", "Deployment/b": ""}
	for name, tt := range map[string]struct {
		there map[string]found
		want  string
	}{
		"equal":          {map[string]found{"ConfigMap/a": {"u", "1"}, "Deployment/b": {"v", ""}}, ""},
		"lost":           {map[string]found{"ConfigMap/a": {"u", "1"}}, "lost: Deployment/b"},
		"left":           {map[string]found{"ConfigMap/a": {"u", "1"}, "Deployment/b": {}, "Secret/c": {}}, "left behind: Secret/c"},
		"an old value":   {map[string]found{"ConfigMap/a": {"u", "0"}, "Deployment/b": {}}, `not as declared: ConfigMap/a ("0" instead of "1")`},
		"on its way out": {map[string]found{"ConfigMap/a": {"u", "1"}, "Deployment/b": {"v", "(is being deleted)"}}, `not as declared: Deployment/b ("(is being deleted)" instead of "")`},
	} {
		got := ""
		if err := differences(declared, tt.there); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestMarked finds a process by its world's mark, and a child with another command line.
func TestMarked(t *testing.T) {
	word := "hone-chaos-test-" + filepath.Base(t.TempDir())
	c := exec.Command("sh", "-c", "echo up; sleep 100000 & wait")
	c.Env = append(os.Environ(), mark+"="+word)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 3)
	if _, err := out.Read(buf); err != nil || !bytes.Equal(buf, []byte("up\n")) {
		t.Fatal(err)
	}
	if found := marked(word); !strings.HasPrefix(found[c.Process.Pid], "sh -c echo up") {
		t.Errorf("found %v", found)
	}
	for len(marked(word)) < 2 { // until the child runs
	}
	if err := endProcesses(word); err == nil || !strings.Contains(err.Error(), "sleep 100000") {
		t.Errorf("%v", err)
	}
	_ = c.Wait()
	for len(marked(word)) > 0 { // until the kernel has removed them
	}
	if err := endProcesses(word); err != nil {
		t.Error(err)
	}
}

func TestSeeds(t *testing.T) {
	if n, err := seed("42"); n != 42 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := seed("many"); err == nil {
		t.Error("a seed that is not a number was accepted")
	}
	first := func(n uint64, name string) uint64 { return randomFor(n, name).Uint64() }
	want := first(1, "a")
	if again := first(1, "a"); again != want {
		t.Errorf("%d, then %d", want, again)
	}
	if want == first(1, "b") || want == first(2, "a") {
		t.Error("the random numbers do not follow from seed and name")
	}
}

func TestChoose(t *testing.T) {
	names := func(all []scenario) (out []string) {
		for _, s := range all {
			out = append(out, s.name)
		}
		return out
	}
	seen := map[string]bool{}
	for _, s := range scenarios {
		if seen[s.name] || s.does == "" || s.limit == 0 || s.run == nil {
			t.Errorf("scenario %+v", s)
		}
		seen[s.name] = true
	}
	all, err := choose(nil)
	if err != nil || len(all) != len(scenarios) {
		t.Errorf("%d of %d, %v", len(all), len(scenarios), err)
	}
	some, err := choose([]string{"ports", "disk"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ports", "disk-state", "disk-temp"}, names(some)); diff != "" {
		t.Error(diff)
	}
	if _, err := choose([]string{"no-such"}); err == nil {
		t.Error("an unknown scenario was accepted")
	}
}
