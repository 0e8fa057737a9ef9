package e2e

import (
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/pkg/api"
)

// number returns the number in a variable of the environment, or another one if it is not set.
func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is not a number", variable, text)
	}
	return n
}

// TestPlanEqualsDeploy edits a Tiltfile at random, again and again: it adds, changes, removes, renames and moves objects and
// resources, changes images, commands that deploy and local commands, changes and deletes objects by hand, and passes names and
// arguments. Each time it makes a plan and deploys it, or the same with deploy or ci, and compares the plan with hone's requests to
// the API server, and with the commands that have run. HONE_SEQUENCES sets the number of rounds, and HONE_SEED the seed.
func TestPlanEqualsDeploy(t *testing.T) {
	t.Parallel()
	const projects, few = 4, 12
	rounds, seed := number(t, "HONE_SEQUENCES", few), number(t, "HONE_SEED", 0)
	var mu sync.Mutex
	seen, ways := map[api.PlanAction]int{}, map[string]int{}
	t.Cleanup(func() {
		for _, action := range []api.PlanAction{api.ActionCreate, api.ActionUpdate, api.ActionReplace, api.ActionUnchanged, api.ActionDelete, api.ActionHandOver, api.ActionRun} {
			if seen[action] == 0 && rounds >= 100 && !t.Failed() {
				t.Errorf("no plan had a step to %s: %v", action, seen)
			}
		}
		t.Logf("HONE_SEED=%d: %d sequences, deployed by %v; the plans had steps to %v", seed, rounds, ways, seen)
	})
	for i := range projects {
		t.Run(fmt.Sprint("project ", i), func(t *testing.T) {
			t.Parallel()
			w := newPlanned(t, uint64(seed+i))
			for n := i; n < rounds && !t.Failed(); n += projects {
				w.edit()
				way, plan := w.round()
				mu.Lock()
				ways[way]++
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

// plannedObject is a ConfigMap. To change an immutable one is to replace it.
type plannedObject struct {
	of        string
	value     int
	immutable bool
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

// edit changes the declarations, a few times, and sometimes the cluster.
func (w *planned) edit() {
	for range 1 + w.rand.IntN(3) {
		plannedEdits[w.rand.IntN(len(plannedEdits))](w)
	}
	w.writeAll()
}

// plannedEdits are all kinds of edits.
var plannedEdits = []func(*planned){
	(*planned).add, (*planned).add, (*planned).add,
	func(w *planned) {
		w.object("is changed", func(o plannedObject) plannedObject { o.value++; return o })
	},
	func(w *planned) {
		w.object("can change no more, or can again", func(o plannedObject) plannedObject { o.immutable = !o.immutable; return o })
	},
	func(w *planned) {
		resource := w.resource(3)
		w.object("is moved to "+resource, func(o plannedObject) plannedObject { o.of = resource; return o })
	},
	func(w *planned) {
		if name, ok := anyOf(w, w.objects); ok {
			delete(w.objects, name)
			w.did("%s is removed", name)
		}
	},
	func(w *planned) {
		if name, ok := anyOf(w, w.objects); ok {
			w.names++
			w.objects[fmt.Sprint("o", w.names)] = w.objects[name]
			delete(w.objects, name)
			w.did("%s is renamed to o%d", name, w.names)
		}
	},
	func(w *planned) {
		from, to := w.resource(3), w.resource(5)
		for name, o := range w.objects {
			if o.of == from {
				o.of = to
				w.objects[name] = o
			}
		}
		w.did("%s is renamed to %s", from, to)
	},
	func(w *planned) { toggle(w, w.commands, fmt.Sprint("c", w.rand.IntN(2))) },
	func(w *planned) { toggle(w, w.locals, fmt.Sprint("l", w.rand.IntN(2))) },
	func(w *planned) { w.image++; w.did("the image is changed") },
	func(w *planned) {
		w.byHand("is changed", func(configMaps dynamic.ResourceInterface, name string) error {
			patch := []byte(`{"data":{"key":"by hand"}}`)
			_, err := configMaps.Patch(w.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"})
			return err
		})
	},
	func(w *planned) {
		w.byHand("is deleted", func(configMaps dynamic.ResourceInterface, name string) error {
			return configMaps.Delete(w.t.Context(), name, metav1.DeleteOptions{})
		})
	},
	func(w *planned) { w.did("nothing is changed") },
}

// resource returns the name of one of the first n resources.
func (w *planned) resource(n int) string { return fmt.Sprint("r", w.rand.IntN(n)) }

func (w *planned) add() {
	resource := w.resource(3)
	w.names++
	w.objects[fmt.Sprint("o", w.names)] = plannedObject{of: resource}
	w.did("o%d is added to %s", w.names, resource)
}

// object changes the declaration of one of the objects.
func (w *planned) object(what string, change func(plannedObject) plannedObject) {
	if name, ok := anyOf(w, w.objects); ok {
		w.objects[name] = change(w.objects[name])
		w.did("%s %s", name, what)
	}
}

// byHand changes one of the objects in the cluster, if it is there and can be changed.
func (w *planned) byHand(what string, change func(configMaps dynamic.ResourceInterface, name string) error) {
	name, ok := anyOf(w, w.objects)
	if !ok {
		return
	}
	configMaps := w.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(w.namespace)
	if change(configMaps, name) == nil {
		w.did("%s %s by hand", name, what)
	}
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
		fmt.Fprintf(&b, "k8s_yaml(blob('''"+conf+"immutable: %t\n'''))\n", name, w.objects[name].value, w.objects[name].immutable)
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

// round makes a plan, carries it out in one of three ways, and compares. It returns the
// command and the plan.
func (w *planned) round() (command string, plan api.Plan) {
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
	path := filepath.Join(w.dir, "next.plan")
	w.says(0, slices.Concat([]string{"preview", "-o", "plan=" + path, "--namespace", w.namespace}, args))
	raw, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	var file struct {
		Plan api.Plan `json:"plan"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		w.t.Fatal(err)
	}
	rest := slices.Concat([]string{"--port", "0", "--namespace", w.namespace}, args)
	ways := []struct {
		name string
		argv []string
	}{
		{"deploy of a plan", []string{"deploy", path, "--port", "0"}},
		{"deploy", slices.Concat([]string{"deploy", "--yes"}, rest)},
		{"ci", slices.Concat([]string{"ci"}, rest)},
	}
	way := ways[w.rand.IntN(len(ways))]
	w.did("%s %s", way.name, strings.Join(args, " "))
	_ = os.Remove(filepath.Join(w.dir, "log"))
	began := time.Now()
	out, code := w.run(way.argv...)
	if code != 0 {
		w.t.Errorf("hone %s: exit code %d\n%s", strings.Join(way.argv, " "), code, out)
	}
	want, got := expected(file.Plan), w.heard(began)
	for _, key := range slices.Sorted(maps.Keys(union(want, got))) {
		if allowed, done := want[key], got[key]; !allowed.allows(done) {
			w.t.Errorf("%s: the plan says %q, and there was %q\nafter %s\n%s", key, allowed.action, done, strings.Join(w.story, "; "), out)
		}
	}
	w.story = append(w.story, "which held")
	if len(args) > 0 {
		return way.name + " with arguments", file.Plan
	}
	return way.name, file.Plan
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
