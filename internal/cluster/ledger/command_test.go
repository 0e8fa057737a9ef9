package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

const secret = "hunter2-swordfish"

// leaks returns the files below a folder that contain the secret.
func leaks(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func recordedCommand(t *testing.T, dir string, name model.ManifestName) model.Cmd {
	t.Helper()
	commands, err := openLedger(t, dir).Commands()
	if err != nil {
		t.Fatal(err)
	}
	return commands[name]
}

func envOf(t *testing.T, dir string, name model.ManifestName) []string {
	t.Helper()
	return recordedCommand(t, dir, name).Env
}

func TestEnvironmentsAreSealed(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "ledger")
	cmd := model.Cmd{Argv: []string{"rm", "-r", "--token=" + secret, "--db=shop-db"}, Dir: "/src", EchoOff: true,
		Env: []string{"KUBECONFIG=/overlay", "TOKEN=" + secret, "EMPTY=", "KUBECONFIG=/own", "TWO=a=b\nc"}}
	cmd = cmd.Hides([]model.Secret{{Name: "db", Key: "token", Value: secret}, {Name: "db", Key: "user", Value: "shop-db", Named: true}, {Name: "db", Key: "other", Value: "elsewhere"}})
	if err := openLedger(t, dir).RecordCommand("chart", cmd); err != nil {
		t.Fatal(err)
	}
	if found := leaks(t, state); len(found) > 0 {
		t.Errorf("the secret is in %v", found)
	}
	want := []string{"KUBECONFIG=/overlay", "KUBECONFIG=/own", "TOKEN=" + secret, "EMPTY=", "TWO=a=b\nc"}
	if diff := cmp.Diff(want, envOf(t, dir, "chart")); diff != "" {
		t.Errorf("a later session (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(cmd.Argv, recordedCommand(t, dir, "chart").Argv); diff != "" {
		t.Errorf("its arguments in a later session (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]model.Secret{{Name: "db", Key: "token", Value: secret}, {Name: "db", Key: "user", Value: "shop-db", Named: true}}, recordedCommand(t, dir, "chart").Secrets); diff != "" {
		t.Errorf("its secrets in a later session (-want +got):\n%s", diff)
	}
	key := filepath.Join(state, "keys", "ledger.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}

	// A renamed resource keeps its command, although values sealed for one resource cannot be opened for another.
	l := openLedger(t, dir)
	if err := l.RecordCommand("other", model.Cmd{Argv: []string{"x"}, Env: []string{"TOKEN=other"}}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(l.Place())
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.NewReplacer(`"chart"`, `"other"`, `"other"`, `"chart"`).Replace(string(raw))
	if err := os.WriteFile(l.Place(), []byte(swapped), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"KUBECONFIG=/overlay", "KUBECONFIG=/own", "TOKEN", "EMPTY", "TWO"}, envOf(t, dir, "other")); diff != "" {
		t.Errorf("swapped (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(l.Place(), raw, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	lost := []string{"KUBECONFIG=/overlay", "KUBECONFIG=/own", "TOKEN", "EMPTY", "TWO"}
	if diff := cmp.Diff(lost, envOf(t, dir, "chart")); diff != "" {
		t.Errorf("without the key (-want +got):\n%s", diff)
	}
	if got := recordedCommand(t, dir, "chart").Argv; len(got) > 0 {
		t.Errorf("without the key, the arguments are %q", got)
	}
	if err := openLedger(t, dir).Record("web", []Record{record("a", "")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lost, envOf(t, dir, "chart")); diff != "" {
		t.Errorf("without the key, written again (-want +got):\n%s", diff)
	}
}

func TestDamagedKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	if err := openLedger(t, dir).RecordCommand("chart", model.Cmd{Argv: []string{"rm"}, Env: []string{"A=b"}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ownKey(dir), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openKey(t, dir, Key{Cluster: "11111111-2222", Project: "abc"}); err == nil || !strings.Contains(err.Error(), "key of the ledgers is damaged") {
		t.Errorf("got %v", err)
	}
}

// TestEarlierFormatsAreRewritten checks that clear text is removed from the ledgers of earlier versions: from the opened
// one, and from the ledgers of other projects and clusters.
func TestEarlierFormatsAreRewritten(t *testing.T) {
	for _, tc := range []struct {
		name, format, argv, env string
		wantEnv                 []string
	}{
		{"the first", "1", `"rm", "` + secret + `"`, `, "env": ["KUBECONFIG=/overlay", "TOKEN=` + secret + `"]`, []string{"KUBECONFIG=/overlay", "TOKEN=" + secret}},
		{"with variables encrypted", "2", `"rm", "` + secret + `"`, `, "clear": ["KUBECONFIG=/overlay"]`, []string{"KUBECONFIG=/overlay"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := t.TempDir()
			dir := filepath.Join(state, "ledger")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			old := `{"format": ` + tc.format + `, "cluster": "CLUSTER", "project": "PROJECT",
  "resources": {"web": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "dev", "name": "a", "uid": "1"}]},
  "commands": {"chart": {"argv": [` + tc.argv + `], "dir": "/src"` + tc.env + `}}}`
			for _, key := range []Key{{"11111111-2222", "abc"}, {"11111111-2222", "other"}, {"gone", "abc"}} {
				text := strings.NewReplacer("CLUSTER", key.Cluster, "PROJECT", key.Project).Replace(old)
				if err := os.WriteFile(filepath.Join(dir, key.head()), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "damaged-x.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			l := openLedger(t, dir)
			if found := leaks(t, state); len(found) > 0 {
				t.Errorf("the secret is still in %v", found)
			}
			if diff := cmp.Diff(tc.wantEnv, envOf(t, dir, "chart")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"rm", secret}, recordedCommand(t, dir, "chart").Argv); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := contents(t, l); len(got["web"]) != 1 || got["web"][0].UID != "1" {
				t.Errorf("records: %v", got)
			}
		})
	}
}
