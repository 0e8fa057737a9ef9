package self

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/adrg/xdg"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
)

// TestOtherClusters checks that the further clusters of a project are asked, and only those.
func TestOtherClusters(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(xdg.Reload) // after the environment is as it was
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("XDG_DATA_HOME", dir)
	xdg.Reload()
	var f flags.Project
	f.Add(&cobra.Command{})
	var config bytes.Buffer
	config.WriteString("apiVersion: v1\nkind: Config\ncurrent-context: dev\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, user: {}}]\ncontexts:\n")
	for _, name := range []string{"dev", "eu", "asia"} {
		fmt.Fprintf(&config, "- {name: %s, context: {cluster: c, user: u, namespace: shop}}\n", name)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	t.Chdir(dir)
	names := func() (out []string) {
		for _, s := range examineOthers(t.Context(), &command.Global{Stderr: &bytes.Buffer{}}, f, nil) {
			out = append(out, s.Name)
			if last := s.Findings[len(s.Findings)-1]; last.Name != "connection" || last.Fault == "" {
				t.Errorf("%s: %+v", s.Name, last)
			}
		}
		return out
	}
	if got := names(); got != nil {
		t.Errorf("a project that has deployed nothing: %v", got)
	}
	tiltfile, err := f.Path()
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range [][2]string{{"dev", "eu"}, {"dev", "gone"}, {"other", "asia"}} {
		if _, err := command.Projects().Beside(t.Context(), tiltfile, on[0], on[1]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"Kubernetes eu"}, names()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
