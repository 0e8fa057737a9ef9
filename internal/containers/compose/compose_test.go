package compose

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// folderOf writes files into a folder and returns it.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load reads the project of compose.yml in a folder.
func load(t testing.TB, dir string, env map[string]string) (*Source, *Project, error) {
	t.Helper()
	s, err := Open(Options{Files: []model.ComposeFile{{Path: filepath.Join(dir, "compose.yml")}}, Base: dir, Name: "shop", Env: env, Read: os.ReadFile})
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Load(t.Context())
	return s, p, err
}

// TestHash changes one field at a time: only fields that determine the containers change the hash.
func TestHash(t *testing.T) {
	files := map[string]string{
		"compose.yml": `
services:
  web:
    image: web:${TAG}
    env_file: web.env
    label_file: labels.env
    networks: [front]
    volumes: ["data:/data"]
    configs: [conf]
    secrets: [token]
    environment: {FROM: $WHO}
    build: {context: ., args: {A: "1"}}
    depends_on: [db]
  db:
    image: db
networks:
  front: {driver: bridge}
  back: {driver: bridge}
volumes:
  data: {labels: {a: b}}
configs:
  conf: {content: "x"}
secrets:
  token: {environment: TOKEN}
`,
		"web.env": "A=1\n", "labels.env": "l=1\n",
	}
	env := map[string]string{"TAG": "1", "WHO": "me", "TOKEN": "secret"}
	hash := func(t *testing.T, file, old, new string, env map[string]string) (string, string) {
		changed := maps.Clone(files)
		if file != "" {
			if !strings.Contains(files[file], old) {
				t.Fatalf("%s does not hold %q", file, old)
			}
			changed[file] = strings.ReplaceAll(files[file], old, new)
		}
		dir := folderOf(t, changed)
		_, p, err := load(t, dir, env)
		if err != nil {
			t.Fatal(err)
		}
		return p.Services[0].Hash, p.Services[0].BuildHash
	}
	// Folders differ between runs; only the build's context may contain them.
	same, _ := hash(t, "", "", "", env)
	if again, _ := hash(t, "", "", "", env); again != same {
		t.Fatal("the same files give another hash")
	}
	for _, c := range []struct {
		name, file, old, new string
		env                  map[string]string
		want                 bool
	}{
		{name: "a variable", env: map[string]string{"TAG": "2", "WHO": "me", "TOKEN": "secret"}, want: true},
		{name: "a variable in its environment", env: map[string]string{"TAG": "1", "WHO": "you", "TOKEN": "secret"}, want: true},
		{name: "a variable that is a secret", env: map[string]string{"TAG": "1", "WHO": "me", "TOKEN": "other"}, want: true},
		{name: "a variable that it does not use", env: map[string]string{"TAG": "1", "WHO": "me", "TOKEN": "secret", "X": "1"}},
		{name: "its env file", file: "web.env", old: "A=1", new: "A=2", want: true},
		{name: "a comment in its env file", file: "web.env", old: "A=1", new: "# c\nA=1"},
		{name: "its labels", file: "labels.env", old: "l=1", new: "l=2", want: true},
		{name: "its network", file: "compose.yml", old: "front: {driver: bridge}", new: "front: {driver: macvlan}", want: true},
		{name: "another network", file: "compose.yml", old: "back: {driver: bridge}", new: "back: {driver: macvlan}"},
		{name: "its volume", file: "compose.yml", old: "a: b", new: "a: c", want: true},
		{name: "its config", file: "compose.yml", old: `content: "x"`, new: `content: "y"`, want: true},
		{name: "another service", file: "compose.yml", old: "image: db", new: "image: db:2"},
		{name: "what it depends on", file: "compose.yml", old: "depends_on: [db]", new: "depends_on: {db: {condition: service_healthy}}"},
		{name: "the order of keys", file: "compose.yml", old: "    image: web:${TAG}\n    env_file: web.env\n", new: "    env_file: web.env\n    image: web:${TAG}\n"},
		{name: "what it is built from", file: "compose.yml", old: `A: "1"`, new: `A: "2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := c.env
			if e == nil {
				e = env
			}
			got, _ := hash(t, c.file, c.old, c.new, e)
			if (got != same) != c.want {
				t.Errorf("the hash changed: %v, want %v", got != same, c.want)
			}
		})
	}
}

// TestBuildHash checks that build: has its own digest.
func TestBuildHash(t *testing.T) {
	text := "services:\n  web:\n    build: {context: https://example.com/a.git, args: {A: $A}}\n"
	dir := folderOf(t, map[string]string{"compose.yml": text})
	seen := map[string]bool{}
	for _, a := range []string{"1", "2", "1"} {
		_, p, err := load(t, dir, map[string]string{"A": a})
		if err != nil {
			t.Fatal(err)
		}
		seen[p.Services[0].BuildHash] = true
	}
	if len(seen) != 2 {
		t.Errorf("got %d digests of two builds", len(seen))
	}
}

// TestReads checks that each relevant file is read through the caller, including missing ones.
func TestReads(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"compose.yml":     "include: [inc/compose.yml]\nservices:\n  web:\n    extends: {file: base/base.yml, service: b}\n    env_file: [{path: maybe.env, required: false}]\n",
		"base/base.yml":   "services:\n  b:\n    extends: {file: more.yml, service: m}\n    env_file: b.env\n",
		"base/more.yml":   "services:\n  m: {image: m}\n",
		"base/b.env":      "A=1\n",
		"inc/compose.yml": "services:\n  i: {image: i, secrets: [s]}\nsecrets:\n  s: {file: ./s.txt}\n",
		"inc/s.txt":       "s",
	})
	seen := map[string]bool{}
	read := func(path string) ([]byte, error) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Error(err)
		}
		seen[rel] = true
		return os.ReadFile(path)
	}
	s, err := Open(Options{Files: []model.ComposeFile{{Path: filepath.Join(dir, "compose.yml")}}, Base: dir, Name: "shop", Read: read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{".env", "base/b.env", "base/base.yml", "base/more.yml", "compose.yml", "inc/.env", "inc/compose.yml", "inc/s.txt", "maybe.env"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	files := s.Files()
	for i := range files {
		files[i], _ = filepath.Rel(dir, files[i])
	}
	if diff := cmp.Diff([]string{"base/base.yml", "base/more.yml", "compose.yml", "inc/compose.yml"}, files); diff != "" {
		t.Errorf("Compose files (-want +got):\n%s", diff)
	}
}

// TestErrorsKeepValues makes errors around a password, in every way in which the library quotes its input: no message
// may contain the password.
func TestErrorsKeepValues(t *testing.T) {
	const secret = "hunter2-is-secret"
	for name, files := range map[string]map[string]string{
		"env file: not a name":           {".env": "PASS WORD@=" + secret},
		"env file: no end of quote":      {".env": "A='x'\nPASSWORD='" + secret},
		"env file: broken variable":      {".env": "PASSWORD=" + secret + "${!}"},
		"env file: required variable":    {".env": "PASSWORD=${X:?" + secret + "}"},
		"service's env file":             {"web.env": "PASS WORD@=" + secret, "compose.yml": "services:\n  web: {image: w, env_file: web.env}\n"},
		"broken variable":                {"compose.yml": "services:\n  web:\n    image: w\n    environment: [\"P=" + secret + "${!}\"]\n"},
		"wrong type":                     {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, privileged: $P}\n"},
		"wrong number":                   {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, scale: $P}\n"},
		"value that fits no pattern":     {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, restart: x, pull_policy: $P}\n"},
		"value that is no port":          {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, ports: [\"$P:80\"]}\n"},
		"value that is no duration":      {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, stop_grace_period: $P}\n"},
		"value that is no mount":         {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, volumes: [{type: $P, target: /x}]}\n"},
		"environment of the wrong shape": {".env": "P=" + secret, "compose.yml": "services:\n  web: {image: w, environment: $P}\n"},
		"YAML with a tag":                {"compose.yml": "services:\n  web: {image: w, scale: !!int " + secret + "}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if files["compose.yml"] == "" {
				files["compose.yml"] = "services:\n  web: {image: w}\n"
			}
			_, _, err := load(t, folderOf(t, files), nil)
			var placed *Error
			switch {
			case !errors.As(err, &placed):
				t.Fatalf("got %v, want an error in a file", err)
			case strings.Contains(err.Error(), secret):
				t.Errorf("the message holds the password: %v", err)
			case placed.Line == 0 && name != "value that is no port": // the library reports only the value
				t.Errorf("no line in %v", err)
			}
		})
	}
}

// TestKnownKeys looks up keys at several places of the schema.
func TestKnownKeys(t *testing.T) {
	for path, want := range map[string]string{
		"": "services", "services.web": "image", "services.web.build": "dockerfile", "services.web.ports.0": "published",
		"services.web.depends_on.db": "condition", "networks.x": "driver", "services.web.deploy.resources.limits": "cpus",
		"services.web.healthcheck": "retries",
	} {
		var parts []string
		if path != "" {
			parts = strings.Split(path, ".")
		}
		if got := knownKeys(parts); !slices.Contains(got, want) || slices.Contains(got, "nonsense") {
			t.Errorf("%q: %v lacks %q", path, got, want)
		}
	}
	if got := knownKeys([]string{"services", "web", "image", "deeper"}); len(got) > 0 {
		t.Errorf("a string has keys: %v", got)
	}
}

// TestFind checks the lines of paths, with names that contain dots and merged keys.
func TestFind(t *testing.T) {
	d, err := parse("", "f", []byte("x: &m\n  image: a\nservices:\n  a.b:\n    <<: *m\n    ports:\n    - 1\n    - target: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]int{
		"services": {3, 1}, "services.a.b": {4, 3}, "services.a.b.ports": {6, 4}, "services.a.b.ports.1": {8, 5},
		"services.a.b.ports.1.target": {8, 6}, "services.a.b.ports.9": {6, 4}, "services.a.b.image": {2, 4},
		"services.c": {3, 1}, "nothing": {0, 0},
	} {
		line, depth := d.find(strings.Split(path, "."))
		if got := [2]int{line, depth}; got != want {
			t.Errorf("%s: line and depth %v, want %v", path, got, want)
		}
	}
}

// TestSubstitute checks which variables count as not set.
func TestSubstitute(t *testing.T) {
	env := map[string]string{"A": "a", "EMPTY": ""}
	for text, want := range map[string]struct{ value, unset string }{
		"plain":                          {"plain", ""},
		"$A ${A} $$A":                    {"a a $A", ""},
		"$B-${C}":                        {"-", "B C"},
		"${B:-x} ${C}":                   {"x ", "C"},
		"${EMPTY:-x}${EMPTY-y}${EMPTY}":  {"x", ""},
		"${A:+set}${B:+set}":             {"set", ""},
		"${B:-${C:-deep}}/${D:-$A}/${E}": {"deep/a/", "E"},
	} {
		var unset []string
		got, err := substitute(text, env, func(n string) { unset = append(unset, n) })
		if err != nil || got != want.value || strings.Join(unset, " ") != want.unset {
			t.Errorf("%q: got %q, not set %v, %v; want %q, %q", text, got, unset, err, want.value, want.unset)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	text.WriteString("services:\n")
	for i := range 100 {
		name := "service" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		text.WriteString("  " + name + ":\n    image: example/" + name + ":${TAG:-dev}\n    ports: [\"8080\"]\n    environment: {A: b, C: $TAG}\n    volumes: [\"./src:/src\"]\n")
	}
	dir := folderOf(b, map[string]string{"compose.yml": text.String()})
	for b.Loop() {
		if _, p, err := load(b, dir, map[string]string{"TAG": "1"}); err != nil || len(p.Services) != 100 {
			b.Fatal(err)
		}
	}
}

// FuzzLoad reads any text as a Compose file, alone and with another file that includes and extends it. Nothing may
// panic or hang, and errors and services must be complete.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"services:\n  web:\n    image: a\n    ports: [\"80:80\"]\n", "services: {web: {build: ., depends_on: {db: {condition: x}}}}",
		"a: &a [*a]", "a: &a [&b [*a]]", "a: &a {x: 1}\nb: [*a, *a]\nservices: {w: {image: w, labels: *a}}", "x: &x {<<: *x}\nservices: *x", "services:\n  web: &w {extends: {file: compose.yml, service: web}}\n",
		"include: [compose.yml]", "services:\n  web: {image: \"${A:-${B}}\"}\n---\nname: x\n", "services: !reset null", "\x00", "a: b: c",
		"services:\n  a: {image: x, volumes: [\".:/x\", {type: bind, target: /y}], secrets: [s]}\nsecrets: {s: {file: x}}\n",
		"include: [{path: [a, b], env_file: .env, project_directory: ../..}]", "services: {a: {image: a, env_file: [.env, {path: x, required: false}]}}",
		"services: {a: null}", "services: {a: {image: [1]}}", "services: {a: {image: a, networks: {x: null}}}\nnetworks: [x]",
	} {
		f.Add(s, "A=1\n")
	}
	f.Fuzz(func(t *testing.T, text, env string) {
		dir := folderOf(t, map[string]string{"compose.yml": text, ".env": env})
		for _, files := range [][]model.ComposeFile{
			{{Path: filepath.Join(dir, "compose.yml")}},
			{{Content: "services:\n  web:\n    extends: {file: compose.yml, service: web}\n    image: x\ninclude: [compose.yml]\n", Source: "text"}},
		} {
			s, err := Open(Options{Files: files, Base: dir, Env: map[string]string{"HOME": dir}, Read: os.ReadFile})
			if err != nil {
				continue
			}
			p, err := s.Load(t.Context())
			if err != nil {
				var placed *Error
				if errors.As(err, &placed) && (placed.Msg == "" || placed.Line < 0) {
					t.Fatalf("%q: an error without a message or with a wrong line: %+v", text, placed)
				}
				continue
			}
			for _, service := range p.Services {
				if service.Name == "" || len(service.Hash) != 64 || service.Build != nil && service.Build.Context == "" {
					t.Fatalf("%q gave %+v", text, service)
				}
			}
		}
	})
}
