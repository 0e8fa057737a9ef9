package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// patienceForTruth is the time for which a report of hone may differ from the cluster: hone has to hear of a change first.
const patienceForTruth = 20 * time.Second

// patienceForRest is the time that a session may take to come to rest, so that it reports more.
const patienceForRest = time.Second

// asDeclared checks the condition that holds at the end of every test whose session still runs, whatever has failed before: if hone reports
// that a resource is up to date, the cluster has its objects as declared, with nothing missing, nothing different and nothing left
// over, and its containers have the files of this machine. Other resources may be in any state.
func (s *session) asDeclared() {
	s.p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the context of the test has ended
	defer cancel()
	began := time.Now()
	for until := began.Add(patienceForTruth); ; time.Sleep(leastPause) {
		if v, err := s.viewIn(ctx); err == nil && slices.ContainsFunc(v.Resources, updating) && time.Since(began) < patienceForRest {
			continue
		}
		faults, err := s.faults(ctx)
		select {
		case <-s.done:
			return // it no longer reports anything
		default:
		}
		if err == nil && len(faults) == 0 {
			return
		}
		if time.Now().After(until) {
			if err != nil {
				s.p.t.Errorf("ask the session how it is: %v", err)
			}
			for _, f := range faults {
				s.p.t.Errorf("hone reports that %s", f)
			}
			return
		}
	}
}

// leastPause is the pause between two checks.
const leastPause = 100 * time.Millisecond

// faults returns the differences between the reports of hone and the state of the cluster and the containers.
func (s *session) faults(ctx context.Context) (faults []string, err error) {
	before, err := s.viewIn(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]error{}
	for _, r := range before.Resources {
		if settled(r) {
			found[r.Name] = s.p.hasFiles(r, before.StartedAt, known)
			if r.Status != "warning" { // which says that others have changed its objects
				found[r.Name] = errors.Join(found[r.Name], s.p.hasObjects(ctx, r.Name, known.applies[r.Name]))
			}
		}
	}
	after, err := s.viewIn(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range after.Resources {
		was := slices.IndexFunc(before.Resources, func(b api.Resource) bool { return b.Name == r.Name })
		if err := found[r.Name]; err != nil && settled(r) && was >= 0 && reflect.DeepEqual(before.Resources[was].BuildHistory, r.BuildHistory) {
			faults = append(faults, fmt.Sprintf("%s is up to date, but %v", r.Name, err))
		}
	}
	return faults, nil
}

// updating reports whether an update runs.
func updating(r api.Resource) bool { return r.CurrentBuild != nil || r.Lag != nil }

// settled reports whether hone reports that a resource is up to date and works.
func settled(r api.Resource) bool {
	if r.UpdateStatus != "ok" || r.RuntimeStatus == "error" {
		return false
	}
	return !updating(r) && r.Waiting == nil
}

// known is what the session says of its resources.
type known struct {
	applies map[string]v1alpha1.KubernetesApply
	lives   map[string][]v1alpha1.LiveUpdate // by resource
	watches map[string]v1alpha1.FileWatch
}

// known asks the session for its objects.
func (s *session) known(ctx context.Context) (known, error) {
	k := known{map[string]v1alpha1.KubernetesApply{}, map[string][]v1alpha1.LiveUpdate{}, map[string]v1alpha1.FileWatch{}}
	c, err := client.Find(ctx, s.p.registry(), client.Selector{Host: "localhost", Port: s.port})
	if err != nil {
		return k, err
	}
	config := c.RESTConfig()
	config.QPS = -1
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		return k, err
	}
	return k, errors.Join(
		listed(ctx, all, "kubernetesapplies", func(o v1alpha1.KubernetesApply) { k.applies[o.Name] = o }),
		listed(ctx, all, "filewatches", func(o v1alpha1.FileWatch) { k.watches[o.Name] = o }),
		listed(ctx, all, "liveupdates", func(o v1alpha1.LiveUpdate) {
			name := o.Annotations["tilt.dev/resource"]
			k.lives[name] = append(k.lives[name], o)
		}))
}

// listed passes the session's objects of a kind to each.
func listed[T any](ctx context.Context, all dynamic.Interface, kind string, each func(T)) error {
	list, err := all.Resource(schema.GroupVersionResource{Group: "tilt.dev", Version: "v1alpha1", Resource: kind}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, u := range list.Items {
		var o T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o); err != nil {
			return err
		}
		each(o)
	}
	return nil
}

// declared returns the objects that a resource declares.
func declared(apply v1alpha1.KubernetesApply) (objects []*unstructured.Unstructured, err error) {
	for _, doc := range strings.Split(apply.Spec.YAML, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			return nil, err
		}
		if u.GetKind() != "" {
			objects = append(objects, u)
		}
	}
	return objects, nil
}

// hasObjects compares the declared objects of a resource with the objects in the cluster.
func (p *project) hasObjects(ctx context.Context, resource string, apply v1alpha1.KubernetesApply) error {
	objects, err := declared(apply)
	if err != nil || len(objects) == 0 {
		return err
	}
	declared := map[string]bool{}
	for _, u := range objects {
		declared[strings.ToLower(u.GetKind())+"/"+u.GetName()] = true
		if err := p.holds(ctx, u); err != nil {
			return err
		}
	}
	for _, kind := range []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "batch", Version: "v1", Resource: "jobs"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	} {
		list, err := p.dyn.Resource(kind).Namespace(p.namespace).List(ctx, metav1.ListOptions{
			LabelSelector: deploy.LabelManagedBy + "=" + deploy.ManagedByHone + "," + deploy.LabelResource + "=" + deploy.ResourceLabel(model.ManifestName(resource))})
		if err != nil {
			return err
		}
		for _, u := range list.Items {
			if id := strings.ToLower(u.GetKind()) + "/" + u.GetName(); !declared[id] && u.GetDeletionTimestamp() == nil {
				return fmt.Errorf("%s is there and not declared", id)
			}
		}
	}
	return nil
}

// holds compares one object. The result of a dry-run apply of the declaration in hone's name must equal the existing
// object: so a field that left the declaration must also have left the object.
func (p *project) holds(ctx context.Context, declared *unstructured.Unstructured) error {
	id := strings.ToLower(declared.GetKind()) + "/" + declared.GetName()
	objects, err := p.objects(declared)
	if err != nil {
		return err
	}
	live, err := objects.Get(ctx, declared.GetName(), metav1.GetOptions{})
	if _, passes, _ := unstructured.NestedInt64(declared.Object, "spec", "ttlSecondsAfterFinished"); passes && apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	force := true
	body, err := json.Marshal(declared.Object)
	if err != nil {
		return err
	}
	want, err := objects.Patch(ctx, declared.GetName(), "application/apply-patch+yaml", body,
		metav1.PatchOptions{FieldManager: deploy.FieldManager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if declared.GetKind() == "Secret" { // the session tells nobody its values
		delete(want.Object, "data")
		delete(live.Object, "data")
	}
	wrapped := supervised(live.Object)
	if diff := cmp.Diff(plain(want.Object, wrapped), plain(live.Object, wrapped)); diff != "" {
		return fmt.Errorf("%s (-declared +live):\n%s", id, diff)
	}
	return nil
}

// objects returns a client for the objects of a kind.
func (p *project) objects(u *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := u.GroupVersionKind()
	m, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == "root" {
		return p.dyn.Resource(m.Resource), nil
	}
	ns := u.GetNamespace()
	if ns == "" {
		ns = p.namespace
	}
	return p.dyn.Resource(m.Resource).Namespace(ns), nil
}

// plain removes the server's additions, and hone's: labels, images, the synclet, and the commands of the named containers.
func plain(v any, wrapped map[string]bool) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && m["name"] == model.SyncletName {
				continue
			}
			out = append(out, plain(e, wrapped))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		name, _ := v["name"].(string)
		for k, e := range v {
			switch {
			case slices.Contains([]string{"status", "managedFields", "generation", "resourceVersion", "creationTimestamp", "imagePullPolicy"}, k):
			case k == deploy.LabelManagedBy, strings.Contains(k, "hone.dev/"):
			case wrapped[name] && (k == "command" || k == "args"):
			case k == "image":
				out[k] = imageName(fmt.Sprint(e))
			default:
				if e = plain(e, wrapped); !reflect.ValueOf(e).IsValid() || !empty(e) {
					out[k] = e
				}
			}
		}
		return out
	}
	return v
}

// supervised returns the names of the containers whose command hone has wrapped.
func supervised(object map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, path := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
		containers, _, _ := unstructured.NestedSlice(object, append(path, "containers")...)
		sidecars, _, _ := unstructured.NestedSlice(object, append(path, "initContainers")...)
		for _, c := range append(containers, sidecars...) {
			if c, ok := c.(map[string]any); ok {
				command, _, _ := unstructured.NestedStringSlice(c, "command")
				names[fmt.Sprint(c["name"])] = len(command) > 0 && strings.HasSuffix(command[0], "/synclet")
			}
		}
	}
	return names
}

// localRegistry is the beginning of the references of a registry on this machine.
var localRegistry = regexp.MustCompile(`^localhost:\d+/`)

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// imageName returns a reference without its tag, in the form in which hone names the images that it builds from it.
func imageName(ref string) string {
	ref, _, _ = strings.Cut(localRegistry.ReplaceAllString(ref, ""), "@")
	if tag := strings.LastIndex(ref, ":"); tag > strings.LastIndex(ref, "/") {
		ref = ref[:tag]
	}
	return strings.ReplaceAll(ref, "/", "_")
}

// TestDifferencesAreSeen shows that asDeclared sees each kind of difference: it changes containers and expectations by hand, where hone
// cannot know of it.
func TestDifferencesAreSeen(t *testing.T) {
	t.Parallel()
	real := k8stest.NewReal(t)
	p := newProjectOn(t, real, web)
	ask := p.shells(real)
	s := p.up()
	s.ready("web")
	p.write("site/made.html", "made")
	p.write("site/left.html", "left")
	s.serves(p.ports[0], "/", "one")
	same := func() error {
		faults, err := s.faults(t.Context())
		if err == nil && len(faults) > 0 {
			err = fmt.Errorf("%q", faults)
		}
		return err
	}
	s.builds("web", 2)
	s.await("the files to be in the container", same)
	pod := current(t, s, "web").Name
	for _, tc := range []struct{ breaks, mends, fault string }{
		{"echo other >/www/index.html", "echo one >/www/index.html", `/www/index.html is "other\n", not "one\n"`},
		{"rm /www/made.html", "printf made >/www/made.html", `/www/made.html is not there`},
		{"cd /www; rm index.html; ln -s made.html index.html", "cd /www; rm index.html; echo one >index.html", `/www/index.html is "link to made.html", not "one\n"`},
		{"rm /www/index.html; mkdir /www/index.html", "rmdir /www/index.html; echo one >/www/index.html", `/www/index.html is "a folder", not "one\n"`},
	} {
		_, err := ask(pod, tc.breaks)
		check(t, err)
		if faults, err := s.faults(t.Context()); err != nil || len(faults) != 1 || !strings.Contains(faults[0], tc.fault) {
			t.Errorf("%s: %q, %v", tc.breaks, faults, err)
		}
		_, err = ask(pod, tc.mends)
		check(t, err)
	}
	check(t, os.Remove(filepath.Join(p.dir, "site/left.html")))
	s.await("the file to leave", same)
	_, err := ask(pod, "printf left >/www/left.html")
	check(t, err)
	if faults, err := s.faults(t.Context()); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "/www/left.html is still there") {
		t.Errorf("%q, %v", faults, err)
	}
	_, err = ask(pod, "rm /www/left.html")
	check(t, err)

	known, err := s.known(t.Context())
	check(t, err)
	apply := known.applies["web"]
	for _, tc := range []struct{ old, new, fault string }{
		{"terminationGracePeriodSeconds: 0", "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds"},
		{"kind: Service\n", "kind: ConfigMap\n", "configmap/web"},
		{"kind: Service\n", "kind: ''\n", "service/web is there and not declared"},
	} {
		changed := apply
		changed.Spec.YAML = strings.ReplaceAll(apply.Spec.YAML, tc.old, tc.new)
		if err := p.hasObjects(t.Context(), "web", changed); err == nil || !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%q instead of %q: %v", tc.new, tc.old, err)
		}
	}
}
