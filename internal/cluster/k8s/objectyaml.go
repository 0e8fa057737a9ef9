package k8s

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/pkg/model"
)

// readLimit bounds the wait for one object that a person wants to see.
const readLimit = 10 * time.Second

// ObjectYAML returns an object as it is in the cluster now, as "kubectl get -o yaml" shows it: without managedFields. The
// values of a Secret are not shown, only their sizes. An object without an API version is read in the preferred one. The
// error is a problem unless ctx has ended.
func (c *Client) ObjectYAML(ctx context.Context, o model.AppliedObject) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	live, err := c.object(ctx, o)
	switch {
	case IsNotFound(err):
		return "", problem.Wrap(err, fmt.Sprintf("the cluster has no %s", o.ObjectID),
			"It has been deleted since it was last seen. If its resource still declares it, an update applies it again")
	case IsForbidden(err):
		return "", problem.Wrap(err, fmt.Sprintf("you may not read %s", o.ObjectID),
			fmt.Sprintf("Ask for the permission to get objects of kind %s", o.Kind))
	case err != nil:
		return "", fmt.Errorf("read %s: %w", o.ObjectID, c.Explain(err))
	}
	unstructured.RemoveNestedField(live.Object, "metadata", "managedFields")
	if o.Kind == "Secret" && o.Group == "" {
		hideValues(live.Object)
	}
	out, err := yamltext.Marshal(live.Object)
	if err != nil {
		return "", fmt.Errorf("show %s: %w", o.ObjectID, err)
	}
	return string(out), nil
}

func (c *Client) object(ctx context.Context, o model.AppliedObject) (*unstructured.Unstructured, error) {
	var versions []string
	if gv, err := schema.ParseGroupVersion(o.APIVersion); err == nil && gv.Version != "" {
		versions = append(versions, gv.Version)
	}
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: o.Group, Kind: o.Kind}, versions...)
	if meta.IsNoMatchError(err) {
		return nil, problem.Wrap(err, fmt.Sprintf("the cluster does not know the kind %s", o.Kind), "Its definition may have been deleted")
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.dynamic.Resource(mapping.Resource).Namespace(c.namespace(o.Namespace)).Get(ctx, o.Name, metav1.GetOptions{})
	}
	return c.dynamic.Resource(mapping.Resource).Get(ctx, o.Name, metav1.GetOptions{})
}

// hideValues replaces the values of a Secret and of its copies in annotations by their sizes.
func hideValues(o map[string]any) {
	model.EachSecretValue(o, func(path []string, values map[string]any, name string) {
		text, _ := values[name].(string)
		size := len(text)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && path[0] == "data" {
			size = len(raw)
		}
		values[name] = fmt.Sprintf("(hidden, %d bytes)", size)
	})
}
