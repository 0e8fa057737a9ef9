package buildanddeploy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// downsIn returns the down commands of a project whose ledger is in a folder.
func downsIn(state string, prune Prune) *DownCommands {
	return NewDownCommands(DownsOptions{Ledgers: ledgertest.In(filepath.Join(state, "ledger")), Project: project.Project{ID: "p"}, Prune: prune})
}

func localWith(name, cmd, down string, deps ...model.ManifestName) model.Manifest {
	m := model.Manifest{Name: model.ManifestName(name), AutoInit: true, ResourceDeps: deps, Local: &model.LocalTarget{Update: shell(cmd)}}
	if down != "" {
		m.Local.Down = shell(down)
	}
	return m
}

// update runs the command of a local resource, and returns the down commands that a later session finds recorded.
func update(t *testing.T, state string, m model.Manifest, declared ...model.Manifest) map[model.ManifestName]model.Cmd {
	t.Helper()
	req := (&diary{}).request(m)
	req.Declared = func() []model.Manifest { return declared }
	_, _ = Local{DownCommands: downsIn(state, PruneCarefully)}.BuildAndDeploy(t.Context(), req) // it may fail: its effects stay
	commands, _, err := downsIn(state, PruneCarefully).Recorded()
	if err != nil {
		t.Fatal(err)
	}
	return commands
}

// TestDownIsRecordedFirst checks that the down command is recorded before anything runs, even if that fails, and without its
// arguments and values in clear text. Once a resource declares no down command, there is nothing to undo.
func TestDownIsRecordedFirst(t *testing.T) {
	state := t.TempDir()
	files := filepath.Join(state, "ledger", "*")
	m := localWith("db", "cat "+files+" > "+filepath.Join(state, "seen")+"; exit 3", "dropdb --password swordfish")
	m.Local.Down.Env = []string{"PASSWORD=hunter2"}
	commands := update(t, state, m)
	if diff := cmp.Diff(map[model.ManifestName]model.Cmd{"db": m.Local.Down}, commands); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	seen, err := os.ReadFile(filepath.Join(state, "seen"))
	if err != nil || !strings.Contains(string(seen), `"db"`) || strings.Contains(string(seen), "hunter2") || strings.Contains(string(seen), "swordfish") {
		t.Errorf("while the command runs the ledger has, %v:\n%s", err, seen)
	}
	if commands := update(t, state, localWith("db", "true", "")); len(commands) != 0 {
		t.Errorf("without a down command: %v", commands)
	}
}

// TestDownsInOrder takes down dependents first, by the recorded dependencies; a resource that must not go yet stays.
func TestDownsInOrder(t *testing.T) {
	state := t.TempDir()
	out := filepath.Join(state, "out")
	says := func(name string) string { return "echo " + name + " >> " + out }
	db, schema := localWith("db", "true", says("db")), localWith("schema", "true", says("schema"), "db")
	app := model.Manifest{Name: "app", K8s: &model.K8sTarget{}, ResourceDeps: []model.ManifestName{"schema"}}
	broken, below, alone := localWith("broken", "true", "exit 4", "below"), localWith("below", "true", says("below")), localWith("alone", "true", says("alone"))
	all := []model.Manifest{app, schema, db, broken, below, alone}
	for _, m := range all {
		if m.IsLocal() {
			update(t, state, m, all...)
		}
	}
	d := downsIn(state, PruneCarefully)
	commands, deps, err := d.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	if want := (ledger.Deps{"app": {"schema"}, "schema": {"db"}, "broken": {"below"}}); !cmp.Equal(deps, want) {
		t.Errorf("recorded dependencies: %v", cmp.Diff(want, deps))
	}
	var names []model.ManifestName
	for name := range commands {
		names = append(names, name)
	}
	err = TakeDownBeside(t.Context(), d.Steps(names, logstore.Discard), deps, logstore.Discard)
	for _, want := range []string{`take down broken: down command "exit 4" failed: exit code 4`, "the down command of broken had to go first; left: the down command of below"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	ran, err := os.ReadFile(out)
	if err != nil || strings.Index(string(ran), "schema") > strings.Index(string(ran), "db") || !strings.Contains(string(ran), "alone") || strings.Contains(string(ran), "below") {
		t.Errorf("ran: %q, %v", ran, err)
	}
	left, _, err := d.Recorded()
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v; want broken and below", left, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := TakeDownBeside(ended, d.Steps([]model.ManifestName{"below"}, logstore.Discard), deps, logstore.Discard); !errors.As(err, new(*deploy.Unfinished)) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestDownsOfWhatIsNoLongerDeclared previews and carries out the end of local resources that left the Tiltfile.
func TestDownsOfWhatIsNoLongerDeclared(t *testing.T) {
	for _, tc := range []struct {
		name     string
		prune    Prune
		declared []model.Manifest
		action   api.PlanAction
		reason   string
		ran      bool
		left     string
	}{
		{"gone", PruneCarefully, nil, api.ActionDelete, "no longer declared: runs touch", true, ""},
		{"kept", PruneNothing, nil, api.ActionKeep, "no longer declared: --no-prune", false, "db"},
		{"turned", PruneCarefully, []model.Manifest{{Name: "db", K8s: &model.K8sTarget{}}}, api.ActionDelete, "no longer declared: runs touch", true, ""},
		{"renamed", PruneCarefully, []model.Manifest{localWith("database", "true", "touch OUT")}, api.ActionHandOver, "database has the same down command now", false, "database"},
		{"declared", PruneCarefully, []model.Manifest{localWith("db", "true", "other")}, "", "", false, "db"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := t.TempDir()
			out := filepath.Join(state, "out")
			for i, m := range tc.declared {
				if m.IsLocal() && m.Name != "db" {
					tc.declared[i].Local.Down = shell("touch " + out)
				}
			}
			update(t, state, localWith("db", "true", "touch "+out))
			d := downsIn(state, tc.prune)
			gone, err := d.Gone(PreviewOptions{Declared: tc.declared, Prune: tc.prune, Chosen: func(model.ManifestName) bool { return true }})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.action == "" && len(gone) == 0:
			case len(gone) != 1 || gone[0].Action != tc.action || !strings.HasPrefix(gone[0].Reason, tc.reason):
				t.Errorf("previewed: %+v", gone)
			}
			if err := d.Remove(t.Context(), RemoveRequest{Resource: "db", Undeclared: true, Log: logstore.Discard, Declared: func() []model.Manifest { return tc.declared }}); err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat(out)
			commands, _, failed := d.Recorded()
			var left []string
			for name := range commands {
				left = append(left, string(name))
			}
			if failed != nil || (err == nil) != tc.ran || strings.Join(left, " ") != tc.left {
				t.Errorf("it ran: %t, want %t; left: %v, want %q; %v", err == nil, tc.ran, left, tc.left, failed)
			}
		})
	}
}

// TestSecretsOfDownCommands previews and runs a down command whose secret nothing else knows any more, since the Tiltfile has changed.
func TestSecretsOfDownCommands(t *testing.T) {
	state := t.TempDir()
	m := localWith("db", "true", `printf 'dropped with swordf'; sleep 0.05; echo ish-9000; exit 3 # swordfish-9000 for shop-db, PASSWORD=shop-db`)
	m.Local.Down = m.Local.Down.Hides([]model.Secret{{Name: "db", Key: "password", Value: "swordfish-9000"}, {Name: "shop", Key: "key", Value: "shop-db", Named: true}})
	update(t, state, m)
	d := downsIn(state, PruneCarefully)
	gone, err := d.Gone(PreviewOptions{Prune: PruneCarefully, Chosen: func(model.ManifestName) bool { return true }})
	if err != nil || len(gone) != 1 || !strings.Contains(gone[0].Reason, "# [redacted secret db:password] for shop-db, PASSWORD=[redacted secret shop:key]") {
		t.Errorf("previewed: %+v, %v", gone, err)
	}
	log := &diary{}
	err = d.Remove(t.Context(), RemoveRequest{Resource: "db", Undeclared: true, Log: log.request(m).Log})
	for what, text := range map[string]string{"the log": log.text(), "the error": problem.Text(err)} {
		if strings.Contains(text, "swordfish-9000") || !strings.Contains(text, "[redacted secret db:password]") {
			t.Errorf("%s is:\n%s", what, text)
		}
	}
}
