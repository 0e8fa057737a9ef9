package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// script writes a program to a new folder.
func script(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestToolIsFound looks for Docker Compose in its possible places.
func TestToolIsFound(t *testing.T) {
	plugin := script(t, "docker", "[ \"$1 $2\" = 'compose version' ] && echo v2.30.1")
	none := script(t, "docker", "exit 1")
	own := script(t, "docker-compose", "echo 2.29.0")
	old := script(t, "docker-compose", "echo 1.29.2")
	named := script(t, "mine", "echo 2.5.0")
	unnumbered := script(t, "docker", "[ \"$1 $2\" = 'compose version' ] && echo dev")
	ownUnnumbered := script(t, "docker-compose", "echo 'Docker Compose version dev'")
	commit := script(t, "mine", "echo 1f3c9ab")
	silent := script(t, "docker", "exit 0")
	for _, c := range []struct {
		name, named string
		path        []string
		want, fails string
	}{
		{name: "plugin", path: []string{plugin, own}, want: "docker compose"},
		{name: "own command", path: []string{none, own}, want: "docker-compose"},
		{name: "named", path: []string{plugin, named}, named: "mine", want: "mine"},
		{name: "no number", path: []string{unnumbered, own}, want: "docker compose"},
		{name: "no number, by itself", path: []string{none, ownUnnumbered}, want: "docker-compose"},
		{name: "a commit, named", path: []string{plugin, commit}, named: "mine", want: "mine"},
		{name: "no version", path: []string{silent}, fails: "was not found"},
		{name: "too old", path: []string{none, old}, fails: "docker-compose is version 1.29.2"},
		{name: "not there", path: []string{none}, fails: "was not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", strings.Join(c.path, string(filepath.ListSeparator)))
			t.Setenv(commandVariable, c.named)
			argv, err := NewTool(nil).find(t.Context())
			if c.fails == "" && (err != nil || strings.Join(argv, " ") != c.want) {
				t.Errorf("got %v, %v", argv, err)
			}
			if p, ok := problem.Of(err); c.fails != "" && (!ok || !strings.Contains(p.Summary, c.fails) || p.Mend == "") {
				t.Errorf("got %v, want a problem", err)
			}
		})
	}
}

// TestBake lets Compose select its builder, and checks that its message about that is not repeated at each build.
func TestBake(t *testing.T) {
	dir := script(t, "compose", `case "$*" in *version*) echo 2.40.3; exit;; esac
echo "bake ${COMPOSE_BAKE-unset}"
echo 'time="now" level=warning msg="Docker Compose is configured to build using Bake, but buildx isn'"'"'t installed"' >&2
printf 'the rest'`)
	t.Setenv(commandVariable, filepath.Join(dir, "compose"))
	build := func() string {
		var said strings.Builder
		log := logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) })
		if err := NewTool(nil).Build(t.Context(), model.ComposeProject{Name: "shop", Dir: dir}, Build{Service: "web"}, log); err != nil {
			t.Error(err)
		}
		return said.String()
	}
	t.Setenv("COMPOSE_BAKE", "") // so that the test restores it
	_ = os.Unsetenv("COMPOSE_BAKE")
	if said := build(); said != "bake unset\nthe rest" {
		t.Errorf("it says %q", said)
	}
	t.Setenv("COMPOSE_BAKE", "true")
	if said := build(); !strings.HasPrefix(said, "bake true\n") || !strings.Contains(said, "buildx") {
		t.Errorf("chosen by the user, it says %q", said)
	}
}

// TestArguments checks the program's arguments (names, files and profiles), and that the environment does not override
// them.
func TestArguments(t *testing.T) {
	dir := script(t, "compose", `case "$*" in *version*) echo 2.40.3; exit;; esac
echo "args $*"
echo "env $COMPOSE_PROFILES $GIVEN $TAKEN $COMPOSE_FILE"
while [ $# -gt 0 ]; do [ "$1" = --file ] && [ "$2" != - ] && cat "$2" && stat -c 'mode %a' "$2"; shift; done
cat
echo
echo the reason >&2
exit 3`)
	t.Setenv(commandVariable, filepath.Join(dir, "compose"))
	t.Setenv("COMPOSE_PROFILES", "foreign")
	t.Setenv("COMPOSE_FILE", "foreign.yml")
	t.Setenv("TAKEN", "foreign")
	t.Setenv("TMPDIR", t.TempDir())
	var said strings.Builder
	log := logstore.Func(func(_ logstore.Level, text string) { said.WriteString(text) })
	p := model.ComposeProject{Name: "shop", Dir: dir, Files: []model.ComposeFile{{Content: "services: {}\n"}}, EnvFiles: []string{"/a.env"},
		Profiles: []string{"one", "two"}, Env: []string{"GIVEN=given", "TAKEN"}}
	err := NewTool(nil).Up(t.Context(), p, Up{Service: "web", Image: "web:1"}, log)
	if err == nil || err.Error() != "docker compose could not start web: the reason" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"--project-name shop --project-directory " + dir, "--env-file /a.env --profile one --profile two --file - up --no-deps",
		"env  given  \n", "services: {}\n", "mode 600\n", `{"services":{"web":{"image":"web:1","pull_policy":"never"}}}`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &said)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hone-compose-*")); len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}
