package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// asDeclared is the condition that holds after every failure: if hone reports that a resource is up to date, the cluster
// has its objects as declared, with nothing missing, nothing different and nothing left over. Other resources may be in
// any state.
func (s *session) asDeclared() {
	s.p.t.Helper()
	select {
	case <-s.done:
		return // it does not report anything any more
	default:
	}
	before, err := s.view()
	if err != nil {
		s.p.t.Errorf("ask the session how it is: %v", err)
		return
	}
	found := map[string]error{}
	for _, r := range before.Resources {
		if settled(r) {
			found[r.Name] = s.p.asDeclared(r.Name, s.declared(r.Name))
		}
	}
	after, err := s.view()
	if err != nil {
		s.p.t.Errorf("ask the session how it is: %v", err)
		return
	}
	for _, r := range after.Resources {
		was := slices.IndexFunc(before.Resources, func(b api.Resource) bool { return b.Name == r.Name })
		if err := found[r.Name]; err != nil && settled(r) && was >= 0 && reflect.DeepEqual(before.Resources[was].BuildHistory, r.BuildHistory) {
			s.p.t.Errorf("hone reports that %s is up to date, but the cluster differs: %v", r.Name, err)
		}
	}
}

// settled reports whether hone reports that a Kubernetes resource is up to date.
func settled(r api.Resource) bool {
	return r.Type == "k8s" && r.UpdateStatus == "ok" && r.CurrentBuild == nil
}

// declared returns the declared objects of a resource in the session.
func (s *session) declared(name string) []*unstructured.Unstructured {
	s.p.t.Helper()
	c := s.p.command("get", "kubernetesapplies", name, "-o", "json", "--port", fmt.Sprint(s.port))
	out, err := c.Output()
	if err != nil {
		s.p.t.Fatalf("%s: %v", c, err)
	}
	var apply struct{ Spec struct{ YAML string } }
	if err := json.Unmarshal(out, &apply); err != nil {
		s.p.t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range strings.Split(apply.Spec.YAML, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			s.p.t.Fatal(err)
		}
		if u.GetKind() != "" {
			objects = append(objects, u)
		}
	}
	if len(objects) == 0 {
		s.p.t.Fatalf("%s declares nothing: %s", name, out)
	}
	return objects
}

// asDeclared compares the declared objects of a resource with those of the cluster.
func (p *project) asDeclared(resource string, objects []*unstructured.Unstructured) error {
	declared := map[string]bool{}
	for _, u := range objects {
		declared[strings.ToLower(u.GetKind())+"/"+u.GetName()] = true
		if err := p.holds(u); err != nil {
			return err
		}
	}
	for _, kind := range []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "batch", Version: "v1", Resource: "jobs"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	} {
		list, err := p.dyn.Resource(kind).Namespace(p.namespace).List(p.t.Context(), metav1.ListOptions{
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
func (p *project) holds(declared *unstructured.Unstructured) error {
	id := strings.ToLower(declared.GetKind()) + "/" + declared.GetName()
	objects, err := p.objects(declared)
	if err != nil {
		return err
	}
	live, err := objects.Get(p.t.Context(), declared.GetName(), metav1.GetOptions{})
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
	want, err := objects.Patch(p.t.Context(), declared.GetName(), "application/apply-patch+yaml", body,
		metav1.PatchOptions{FieldManager: deploy.FieldManager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if diff := cmp.Diff(plain(want.Object), plain(live.Object)); diff != "" {
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

// plain removes the server's additions, and hone's: labels, images and the synclet.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && m["name"] == model.SyncletName {
				continue
			}
			out = append(out, plain(e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			switch {
			case slices.Contains([]string{"status", "managedFields", "generation", "resourceVersion", "creationTimestamp", "imagePullPolicy"}, k):
			case k == deploy.LabelManagedBy, strings.Contains(k, "hone.dev/"):
			case k == "image":
				out[k] = imageName(fmt.Sprint(e))
			default:
				if e = plain(e); !reflect.ValueOf(e).IsValid() || !empty(e) {
					out[k] = e
				}
			}
		}
		return out
	}
	return v
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// imageName is the last part of a reference without its tag.
func imageName(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	ref = ref[strings.LastIndex(ref, "/")+1:]
	ref, _, _ = strings.Cut(ref, ":")
	return ref
}
