package buildanddeploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPreviewOfCommands previews resources that commands deploy, and local commands: the plan says that they run, whether they are
// new, and their fate when they are no longer declared.
func TestPreviewOfCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	write := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	chart := func(name, apply string) model.Manifest {
		m := custom(name, apply, "echo gone")
		m.K8s.CustomDeploy.Watch.Paths = []string{file}
		return m
	}
	local := func(script string) model.Manifest {
		return model.Manifest{Name: "gen", AutoInit: true, Local: &model.LocalTarget{Update: shell(script), Down: shell("echo down")}}
	}
	objects := model.Manifest{Name: "chart", AutoInit: true, K8s: &model.K8sTarget{Objects: []model.K8sObject{{APIVersion: "v1", Kind: "ConfigMap", Name: "own",
		JSON: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"own"}}`}}}}
	manual := chart("chart", printsApp)
	manual.AutoInit = false
	declared := []model.Manifest{chart("chart", printsApp), local("true")}
	for _, tc := range []struct {
		name   string
		before bool // the commands have run
		change func()
		o      PreviewOptions
		want   []string
	}{
		{"they have not run", false, nil, PreviewOptions{Declared: declared},
			[]string{"run k8s_custom_deploy/chart: for the first time: runs " + printsApp + " (changed)", "run local/gen: for the first time: runs true (changed)"}},
		{"they have run", true, nil, PreviewOptions{Declared: declared},
			[]string{"run k8s_custom_deploy/chart: runs " + printsApp, "run local/gen: runs true"}},
		{"the commands have changed", true, nil, PreviewOptions{Declared: []model.Manifest{chart("chart", printsApp+" "), local("true 1")}},
			[]string{"run k8s_custom_deploy/chart: changed since it last ran: runs " + printsApp + "  (changed)", "run local/gen: changed since it last ran: runs true 1 (changed)"}},
		{"a file has changed", true, func() { write("two") }, PreviewOptions{Declared: declared},
			[]string{"run k8s_custom_deploy/chart: changed since it last ran: runs " + printsApp + " (changed)", "run local/gen: runs true"}},
		{"it waits for a trigger", true, nil, PreviewOptions{Declared: []model.Manifest{manual, declared[1]}},
			[]string{"run local/gen: runs true"}},
		{"they are no longer declared", true, nil, PreviewOptions{},
			[]string{"delete k8s_custom_deploy/chart: no longer declared: runs echo gone\nwhat it has deployed: configmap/app", "delete local/gen: no longer declared: runs echo down"}},
		{"others are chosen", true, nil, PreviewOptions{Chosen: func(model.ManifestName) bool { return false }}, nil},
		{"nothing may be deleted", true, nil, PreviewOptions{Prune: PruneNothing},
			[]string{"keep k8s_custom_deploy/chart: no longer declared: --no-prune; hone gc deletes them", "keep local/gen: no longer declared: --no-prune"}},
		{"another session runs", true, nil, PreviewOptions{Others: "session shop"},
			[]string{"keep k8s_custom_deploy/chart: no longer declared: session shop also works on this project, and may need it",
				"keep local/gen: no longer declared: session shop also works on this project, and may need it"}},
		{"it has another name", true, nil, PreviewOptions{Declared: []model.Manifest{chart("diagram", printsApp), declared[1]}},
			[]string{"run k8s_custom_deploy/diagram: for the first time: runs " + printsApp + " (changed)", "run local/gen: runs true", "hand over k8s_custom_deploy/chart: diagram has the same delete command now"}},
		{"it has become objects", true, nil, PreviewOptions{Declared: []model.Manifest{objects, declared[1]}},
			[]string{"create ConfigMap/own: ", "run local/gen: runs true", "delete k8s_custom_deploy/chart: no command deploys it any more: runs echo gone\nwhat it has deployed: configmap/app"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write("one")
			server, mapper, dir := deploytest.New(), deploytest.Mapper(), t.TempDir()
			server.Put("configmaps", configMap("app", "by a command"))
			c := &Cluster{dyn: server, mapper: mapper, applier: deploy.NewApplier(server, mapper), ledgers: ledgertest.In(filepath.Join(dir, "ledger")), project: "p"}
			downCommands := NewDownCommands(DownsOptions{Ledgers: ledgertest.In(filepath.Join(dir, "ledger")), Project: project.Project{ID: "p"}})
			if tc.before {
				for _, m := range declared {
					req := (&diary{}).request(m)
					req.Namespace, req.Log = deploytest.Namespace, logstore.Discard
					var err error
					if m.IsLocal() {
						_, err = Local{DownCommands: downCommands}.BuildAndDeploy(t.Context(), req)
					} else {
						_, err = c.Deploy(t.Context(), req, nil)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if tc.change != nil {
				tc.change()
			}
			o := tc.o
			o.Namespace = deploytest.Namespace
			if o.Chosen == nil {
				o.Chosen = func(model.ManifestName) bool { return true }
			}
			o.Beside = downCommands.Nodes(o)
			steps, err := c.Preview(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			gone, err := downCommands.Gone(o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			changes := false
			for _, s := range append(steps, gone...) {
				line := fmt.Sprintf("%s %s/%s: %s", s.Action, s.Object.Kind, s.Object.Name, s.Reason)
				if s.Changed {
					line += " (changed)"
				}
				got = append(got, line)
				changes = changes || s.Changed
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if plan := (api.Plan{Steps: slices.Concat(steps, gone)}); plan.Changes() != changes {
				t.Errorf("the plan changes something: %v", plan.Changes())
			}
		})
	}
}
