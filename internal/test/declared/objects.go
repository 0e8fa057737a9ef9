//go:build linux

package declared

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// parse returns the objects of a resource's YAML.
func parse(resource string) (objects []*unstructured.Unstructured, err error) {
	for _, doc := range strings.Split(resource, "\n---\n") {
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

// HasObjects compares the objects that a resource declares as YAML with its objects in the cluster.
func (c Checker) HasObjects(ctx context.Context, resource, declaration string) error {
	objects, err := parse(declaration)
	if err != nil || len(objects) == 0 {
		return err
	}
	declared := map[string]bool{}
	for _, u := range objects {
		declared[strings.ToLower(u.GetKind())+"/"+u.GetName()] = true
		if err := c.holds(ctx, u); err != nil {
			return err
		}
	}
	for _, kind := range []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "batch", Version: "v1", Resource: "jobs"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	} {
		list, err := c.Cluster.Dynamic().Resource(kind).Namespace(c.Namespace).List(ctx, metav1.ListOptions{
			LabelSelector: deploy.ManagedSelector + "," + deploy.LabelResource + "=" + deploy.ResourceLabel(model.ManifestName(resource))})
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
func (c Checker) holds(ctx context.Context, declared *unstructured.Unstructured) error {
	id := strings.ToLower(declared.GetKind()) + "/" + declared.GetName()
	gvr, ns, err := c.Place(declared)
	if err != nil {
		return err
	}
	objects := c.Cluster.Dynamic().Resource(gvr).Namespace(ns)
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
	if declared.GetKind() == "Secret" { // a session shows its values nowhere
		delete(want.Object, "data")
		delete(live.Object, "data")
	}
	wrapped := supervised(live.Object)
	if diff := cmp.Diff(plain(want.Object, wrapped), plain(live.Object, wrapped)); diff != "" {
		return fmt.Errorf("%s (-declared +live):\n%s", id, diff)
	}
	return nil
}

// Place returns the kind and the namespace of an object in the cluster; the namespace is empty if its kind has none.
func (c Checker) Place(u *unstructured.Unstructured) (gvr schema.GroupVersionResource, namespace string, err error) {
	gvk := u.GroupVersionKind()
	m, err := c.Cluster.Mapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return gvr, "", err
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		return m.Resource, "", nil
	}
	if namespace = u.GetNamespace(); namespace == "" {
		namespace = c.Namespace
	}
	return m.Resource, namespace, nil
}
