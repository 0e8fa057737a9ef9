package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// plannedSequences returns how many random edits TestPlanEqualsDeploy deploys; HONE_SEQUENCES sets another number.
func plannedSequences() int {
	if n, err := strconv.Atoi(os.Getenv("HONE_SEQUENCES")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 12
	}
	return 500
}

// TestPlanEqualsDeploy edits a Tiltfile at random, again and again: it adds, changes, removes, renames and moves objects and
// resources, changes images, commands that deploy and local commands, and passes names and arguments. Each time it makes a plan and
// deploys it, or the same with deploy or ci, and compares the plan with hone's requests to the API server, and with the commands
// that have run.
func TestPlanEqualsDeploy(t *testing.T) {
	t.Parallel()
	const projects = 4
	var mu sync.Mutex
	seen := map[api.PlanAction]int{}
	t.Cleanup(func() {
		for _, action := range []api.PlanAction{api.ActionCreate, api.ActionUpdate, api.ActionUnchanged, api.ActionDelete, api.ActionHandOver, api.ActionRun} {
			if seen[action] == 0 && plannedSequences() >= 100 && !t.Failed() {
				t.Errorf("no plan had a step to %s: %v", action, seen)
			}
		}
		t.Logf("the plans had steps to %v", seen)
	})
	for i := range projects {
		t.Run(fmt.Sprint("seed ", i), func(t *testing.T) {
			t.Parallel()
			w := newPlanned(t, uint64(i))
			for n := i; n < plannedSequences() && !t.Failed(); n += projects {
				w.edit()
				plan := w.round()
				mu.Lock()
				for action, n := range plan.Summary {
					seen[action] += n
				}
				mu.Unlock()
			}
		})
	}
}

// planned is a project that is edited at random.
type planned struct {
	*project
	rand *rand.Rand
	// objects are the ConfigMaps, each with its resource. commands are the commands that deploy, and locals are the others, with the
	// version of each.
	objects          map[string]plannedObject
	commands, locals map[string]int
	// image is the version of the image, and names counts the names of objects.
	image, names int
	// story lists the edits, for messages.
	story []string
}

type plannedObject struct {
	of    string
	value int
}

func newPlanned(t *testing.T, seed uint64) *planned {
	return &planned{project: newProject(t, "-- image/Dockerfile --\nFROM busybox\nCOPY file /file\n"), rand: rand.New(rand.NewPCG(seed, 7)),
		objects: map[string]plannedObject{}, commands: map[string]int{}, locals: map[string]int{}}
}

func (w *planned) did(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// anyOf returns a key of a map, or false if it is empty.
func anyOf[V any](w *planned, m map[string]V) (string, bool) {
	keys := slices.Sorted(maps.Keys(m))
	if len(keys) == 0 {
		return "", false
	}
	return keys[w.rand.IntN(len(keys))], true
}

// edit changes the declarations, a few times.
func (w *planned) edit() {
	for range 1 + w.rand.IntN(3) {
		resource := fmt.Sprint("r", w.rand.IntN(3))
		switch w.rand.IntN(11) {
		case 0, 1, 2:
			w.names++
			w.objects[fmt.Sprint("o", w.names)] = plannedObject{resource, 0}
			w.did("o%d is added to %s", w.names, resource)
		case 3:
			if name, ok := anyOf(w, w.objects); ok {
				w.objects[name] = plannedObject{w.objects[name].of, w.objects[name].value + 1}
				w.did("%s is changed", name)
			}
		case 4:
			if name, ok := anyOf(w, w.objects); ok {
				delete(w.objects, name)
				w.did("%s is removed", name)
			}
		case 5:
			if name, ok := anyOf(w, w.objects); ok {
				w.objects[name] = plannedObject{resource, w.objects[name].value}
				w.did("%s is moved to %s", name, resource)
			}
		case 6:
			from, to := fmt.Sprint("r", w.rand.IntN(3)), fmt.Sprint("r", w.rand.IntN(5))
			for name, o := range w.objects {
				if o.of == from {
					w.objects[name] = plannedObject{to, o.value}
				}
			}
			w.did("%s is renamed to %s", from, to)
		case 7:
			toggle(w, w.commands, fmt.Sprint("c", w.rand.IntN(2)))
		case 8:
			toggle(w, w.locals, fmt.Sprint("l", w.rand.IntN(2)))
		case 9:
			w.image++
			w.did("the image is changed")
		case 10:
			w.did("nothing is changed")
		}
	}
	w.writeAll()
}

// toggle adds, changes or removes something that has versions.
func toggle(w *planned, m map[string]int, name string) {
	if _, ok := m[name]; ok && w.rand.IntN(2) == 0 {
		delete(m, name)
		w.did("%s is removed", name)
		return
	}
	m[name]++
	w.did("%s is added or changed", name)
}

// writeAll writes the Tiltfile and its files.
func (w *planned) writeAll() {
	const conf = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: '%d'}\n"
	var b strings.Builder
	fmt.Fprintf(&b, "config.define_bool('more')\nconfig.define_string_list('to-run', args=True)\ncfg = config.parse()\nconfig.set_enabled_resources(cfg.get('to-run', []))\n")
	fmt.Fprintf(&b, "if cfg.get('more'):\n  k8s_yaml(blob('''"+conf+"'''))\n  k8s_resource(new_name='more', objects=['more:configmap'])\n", "more", 0)
	of := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		fmt.Fprintf(&b, "k8s_yaml(blob('''"+conf+"'''))\n", name, w.objects[name].value)
		of[w.objects[name].of] = append(of[w.objects[name].of], "'"+name+":configmap'")
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "k8s_resource(new_name='%s', objects=[%s])\n", name, strings.Join(of[name], ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(w.commands)) {
		fmt.Fprintf(&b, "k8s_custom_deploy('%[1]s', apply_cmd='echo apply %[1]s >> log; kubectl apply -n $NS -o yaml -f %[1]s.yaml', delete_cmd='echo delete %[1]s >> log; kubectl delete -n $NS --ignore-not-found -f %[1]s.yaml', deps=['%[1]s.yaml'])\n", name)
		w.write(name+".yaml", fmt.Sprintf(conf, "by-"+name, w.commands[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(w.locals)) {
		fmt.Fprintf(&b, "local_resource('%[1]s', 'echo apply %[1]s >> log; true %[2]d', down_cmd='echo delete %[1]s >> log')\n", name, w.locals[name])
	}
	b.WriteString("docker_build('app', 'image')\nk8s_yaml('app.yaml')\n")
	w.write("image/file", fmt.Sprint(w.image))
	w.write("app.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: app}}\n"+
		"  template:\n    metadata: {labels: {app: app}}\n    spec: {containers: [{name: main, image: app}]}\n")
	w.write("Tiltfile", b.String())
}

// round makes a plan, carries it out in one of three ways, and compares. It returns the plan.
func (w *planned) round() api.Plan {
	w.t.Helper()
	var args []string
	if w.rand.IntN(2) == 0 {
		resources := map[string]bool{"app": true}
		for _, o := range w.objects {
			resources[o.of] = true
		}
		for _, m := range []map[string]int{w.commands, w.locals} {
			for name := range m {
				resources[name] = true
			}
		}
		for range 1 + w.rand.IntN(2) {
			if name, ok := anyOf(w, resources); ok && !slices.Contains(args, name) {
				args = append(args, name)
			}
		}
	}
	if w.rand.IntN(4) == 0 {
		args = append(args, "--", "--more")
	}
	plan := filepath.Join(w.dir, "next.plan")
	w.says(0, slices.Concat([]string{"preview", "-o", "plan=" + plan, "--namespace", w.namespace}, args))
	raw, err := os.ReadFile(plan)
	if err != nil {
		w.t.Fatal(err)
	}
	var file struct {
		Plan api.Plan `json:"plan"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		w.t.Fatal(err)
	}
	ways := [][]string{{"deploy", plan, "--port", "0"}, slices.Concat([]string{"deploy", "--yes", "--port", "0", "--namespace", w.namespace}, args),
		slices.Concat([]string{"ci", "--port", "0", "--namespace", w.namespace}, args)}
	way := ways[w.rand.IntN(len(ways))]
	w.did("hone %s %s", way[0], strings.Join(args, " "))
	_ = os.Remove(filepath.Join(w.dir, "log"))
	began := time.Now()
	out, code := w.run(way...)
	if code != 0 {
		w.t.Errorf("hone %s: exit code %d\n%s", strings.Join(way, " "), code, out)
	}
	want, got := expected(file.Plan), w.heard(began)
	for _, key := range slices.Sorted(maps.Keys(union(want, got))) {
		if allowed, done := want[key], got[key]; !allowed.allows(done) {
			w.t.Errorf("%s: the plan says %q, and there was %q\nafter %s\n%s", key, allowed.action, done, strings.Join(w.story, "; "), out)
		}
	}
	w.story = append(w.story, "which held")
	return file.Plan
}

// does is the action that a plan shows for an object or a command.
type does struct{ action api.PlanAction }

// allows reports whether the requests, or the commands, match the plan.
func (d does) allows(done string) bool {
	switch d.action {
	case api.ActionCreate, api.ActionUpdate, api.ActionRun, api.ActionAdopt:
		return done == "apply"
	case api.ActionDelete:
		return done == "delete"
	case api.ActionReplace:
		return done == "delete apply"
	case api.ActionHandOver: // only its marks may change
		return done == "" || done == "apply"
	default:
		return done == ""
	}
}

// expected returns the actions of a plan, by object or command.
func expected(plan api.Plan) map[string]does {
	kinds := map[string]string{"ConfigMap": "configmaps", "Deployment": "deployments"}
	out := map[string]does{}
	for _, s := range plan.Steps {
		kind, ok := kinds[s.Object.Kind]
		if !ok {
			kind = "command"
		}
		out[kind+"/"+s.Object.Name] = does{s.Action}
	}
	return out
}

func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

// heard returns hone's requests to the API server since a time, from its audit log, and the commands that have run: "apply",
// "delete" or both, each once.
func (w *planned) heard(since time.Time) map[string]string {
	w.t.Helper()
	done := map[string][]string{}
	add := func(key, what string) {
		if !slices.Contains(done[key], what) {
			done[key] = append(done[key], what)
		}
	}
	for _, e := range w.audited(since) {
		what := "apply"
		if e.Verb == "delete" {
			what = "delete"
		}
		add(e.ObjectRef.Resource+"/"+e.ObjectRef.Name, what)
	}
	if raw, err := os.ReadFile(filepath.Join(w.dir, "log")); err == nil {
		for line := range strings.Lines(string(raw)) {
			what, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			add("command/"+name, what)
		}
	}
	out := map[string]string{}
	for key, list := range done {
		out[key] = strings.Join(list, " ")
	}
	return out
}

// auditEvent is the part of an event of the API server's audit log that the tests read.
type auditEvent struct {
	Verb       string
	RequestURI string
	UserAgent  string
	ObjectRef  struct{ Resource, Namespace, Name string }
	ReceivedAt time.Time `json:"requestReceivedTimestamp"`
}

// audited returns the writes of hone in the project's namespace since a time.
func (w *planned) audited(since time.Time) (out []auditEvent) {
	w.t.Helper()
	dir := filepath.Dir(os.Getenv("KUBECONFIG"))
	files, err := filepath.Glob(filepath.Join(dir, "logs", "audit*.log"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("the cluster keeps no audit log: %v", err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			if !bytes.Contains(lines.Bytes(), []byte(w.namespace)) {
				continue
			}
			var e auditEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				continue // it is being written
			}
			if e.ObjectRef.Namespace == w.namespace && !e.ReceivedAt.Before(since) && e.UserAgent == "hone" && !strings.Contains(e.RequestURI, "dryRun=All") {
				out = append(out, e)
			}
		}
	}
	return out
}
