package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// database is a project with things that are no objects.
const database = `
-- Tiltfile --
local_resource('db', cmd='mkdir made && echo "$PASSWORD" | wc -c > made/db', down_cmd='echo "down db $PASSWORD" | tr a-z A-Z && rm -r made', env={'PASSWORD': 'hunter2'})
local_resource('schema', cmd='touch made/schema; exit 1', down_cmd='rm made/schema && echo down schema', resource_deps=['db'])
`

// made returns the names of the files that the commands of database have left.
func (p *project) made() string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, "made", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return strings.Join(files, " ")
}

// TestDownCommandsAfterAKill kills a session, removes the Tiltfile and takes everything down: in the right order, with the recorded
// values, which are nowhere in clear text. One of the commands had failed half-way.
func TestDownCommandsAfterAKill(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, database)
	s := p.up()
	s.says(`schema │ .*exit code 1`)
	if got := p.made(); got != "db schema" {
		t.Fatalf("made: %s", got)
	}
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.done
	err := filepath.WalkDir(p.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), "hunter2") {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(p.dir, "Tiltfile"), filepath.Join(p.dir, "aside")); err != nil {
		t.Fatal(err)
	}
	p.says(1, []string{"down", "scheme"}, "no record of scheme, and the Tiltfile cannot be evaluated")
	p.says(0, []string{"down"}, `(?s)down schema.*DOWN DB HUNTER2`)
	if got := p.made(); got != "" {
		t.Errorf("left: %s", got)
	}
	if err := os.Rename(filepath.Join(p.dir, "aside"), filepath.Join(p.dir, "Tiltfile")); err != nil {
		t.Fatal(err)
	}
	p.says(0, []string{"down"}, `Nothing to delete`)
}

// TestDownCommandsOfWhatLeaves takes down resources that leave the Tiltfile, during a session and before one, but not a resource
// that is only renamed.
func TestDownCommandsOfWhatLeaves(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, database)
	p.replace("Tiltfile", "; exit 1", "")
	s := p.up()
	s.ready("db", "schema")
	p.replace("Tiltfile", "local_resource('db'", "local_resource('database'")
	p.replace("Tiltfile", "mkdir made", "mkdir -p made")
	p.replace("Tiltfile", "['db']", "['database']")
	s.says(`db │ database has the same down command now: it does not run`)
	s.ready("database")
	p.write("Tiltfile", firstResource(t, p))
	s.says(`schema │ Running the down command of schema, which the Tiltfile no longer declares`)
	s.says(`schema │ down schema`)
	if got := p.made(); got != "db" {
		t.Errorf("while the other is declared: %s", got)
	}
	s.stop()
	p.write("Tiltfile", "local_resource('other', 'true')\n")
	p.says(0, []string{"preview"}, `\$ run +local/other`, `- delete +local/database`, `runs echo "down db \$PASSWORD"`, `1 to run, 1 to delete`)
	p.says(0, []string{"ci", "--no-prune"}, "The down command of database, which the Tiltfile no longer declares, does not run: --no-prune")
	p.says(0, []string{"gc", "--dry-run"}, `- delete +local/database`)
	if got := p.made(); got != "db" {
		t.Errorf("after a dry run: %s", got)
	}
	p.says(0, []string{"ci"}, `DOWN DB HUNTER2`)
	if got := p.made(); got != "" {
		t.Errorf("left: %s", got)
	}
	p.says(0, []string{"gc"}, `Nothing to delete`)
}

// firstResource returns the Tiltfile with its first resource alone.
func firstResource(t *testing.T, p *project) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.dir, "Tiltfile"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimLeft(string(raw), "\n"), "\n")[0]
}

// TestDownCommandsBesideObjects takes down a database after the objects that use it, and before those that it uses.
func TestDownCommandsBesideObjects(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('all.yaml')
k8s_resource(new_name='config', objects=['config'])
local_resource('db', cmd='touch db', down_cmd='rm db && echo the database is gone', resource_deps=['config'])
k8s_resource('app', resource_deps=['db'])
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
---
`+deployment("app", `{terminationGracePeriodSeconds: 0, containers: [{name: app, image: busybox, command: [sleep, "10000"]}]}`))
	p.says(0, []string{"ci", "--namespace", p.namespace, "--port", "0"})
	p.says(0, []string{"preview", "--namespace", p.namespace}, `\$ run +local/db`, `1 to run, 2 unchanged`)
	if err := os.Rename(filepath.Join(p.dir, "Tiltfile"), filepath.Join(p.dir, "aside")); err != nil {
		t.Fatal(err)
	}
	out, code := p.run("down", "--namespace", p.namespace)
	if code != 0 || !regexp.MustCompile(`(?s)deployment app.*the database is gone.*configmap config|(?s)deleted app.*the database is gone.*deleted config`).MatchString(out) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "db")); err == nil {
		t.Error("the database is left")
	}
	p.gone("", "v1", "configmaps", "config")
}
