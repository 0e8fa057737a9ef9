package deploy

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// serverFields are the parts of metadata that only the API server writes; objects dumped from a cluster carry them.
var serverFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink"}

// parse reads a declared object and normalises it for server-side apply and comparison: without fields that the server
// owns, without nulls, with secrets encoded, without list entries that a later one overrides.
func parse(o model.K8sObject) (*unstructured.Unstructured, error) {
	var content map[string]any
	if err := utiljson.Unmarshal([]byte(o.JSON), &content); err != nil {
		return nil, fmt.Errorf("%s: not an object: %w", title(o.ID()), err)
	}
	u := &unstructured.Unstructured{Object: content}
	if content == nil || u.GetKind() == "" || u.GetAPIVersion() == "" {
		return nil, problem.New(fmt.Sprintf("%s has no kind or no apiVersion", title(o.ID())), "add both to the YAML")
	}
	meta, err := ensureMap(content, "metadata")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", title(o.ID()), err)
	}
	if u.GetName() == "" {
		return nil, problem.New(fmt.Sprintf("an object of kind %s has no metadata.name", u.GetKind()),
			"give it a name: objects with generateName cannot be updated")
	}
	for _, key := range serverFields {
		delete(meta, key)
	}
	delete(content, "status")
	if model.BuiltinGroup(u.GroupVersionKind().Group) {
		dropNulls(content)
	}
	if isSecret(u) {
		if err := encodeSecret(u); err != nil {
			return nil, err
		}
	}
	for _, spec := range podSpecs(u) {
		dropOverridden(spec)
	}
	return u, nil
}

// dropNulls removes map entries without a value, at any depth: the API server treats them as absent.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if item == nil {
				delete(v, k)
				continue
			}
			dropNulls(item)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}

func isSecret(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Group == "" && gvk.Kind == "Secret"
}

// encodeSecret moves stringData into data, where the server stores it, so that a key that leaves the YAML also leaves
// the secret, and an unchanged secret compares equal. Its errors name keys, never values.
func encodeSecret(u *unstructured.Unstructured) error {
	name := title(IDOf(u))
	for _, part := range []string{"data", "stringData"} {
		m, ok := u.Object[part].(map[string]any)
		if u.Object[part] != nil && !ok {
			return problem.New(fmt.Sprintf("%s: %s is not a map", name, part), "write it as KEY: VALUE lines")
		}
		for key, v := range m {
			if _, ok := v.(string); !ok {
				return problem.New(fmt.Sprintf("%s: %s.%s is not a string", name, part, key), "put the value into quotes")
			}
		}
	}
	plain, _ := u.Object["stringData"].(map[string]any)
	delete(u.Object, "stringData")
	if len(plain) == 0 {
		return nil
	}
	data, err := ensureMap(u.Object, "data")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for key, v := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(v.(string)))
	}
	return nil
}

// dropOverridden removes environment variables and pull secrets that are repeated later under the same name: the
// kubelet uses the last one, but server-side apply rejects the repetition.
func dropOverridden(spec map[string]any) {
	keepLast(spec, "imagePullSecrets")
	for _, list := range containerLists {
		for _, c := range itemsOf(spec, list) {
			keepLast(c, "env")
		}
	}
}

// keepLast removes the items of the list m[key] whose name a later item repeats.
func keepLast(m map[string]any, key string) {
	list, ok := m[key].([]any)
	if !ok {
		return
	}
	last := map[string]int{}
	for i, item := range list {
		if im, ok := item.(map[string]any); ok {
			last[text(im, "name")] = i
		}
	}
	kept := make([]any, 0, len(list))
	for i, item := range list {
		im, ok := item.(map[string]any)
		if name := text(im, "name"); !ok || name == "" || last[name] == i {
			kept = append(kept, item)
		}
	}
	m[key] = kept
}
