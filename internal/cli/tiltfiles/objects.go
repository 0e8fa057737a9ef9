package tiltfiles

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// objectStream writes the objects of an evaluation as a stream of YAML documents. What the stream lacks is said in the log.
type objectStream struct {
	// namespace is for namespaced objects that name none; empty leaves them without one.
	namespace string
	// secrets are the values that must not be printed; nil prints all.
	secrets *command.Secrets
	log     logstore.Logger
	// left are the objects that the stream lacks because of the secrets in them.
	left []string
}

// write implements the format yaml of hone tiltfile. After an error of the Tiltfile, it writes nothing.
func (s *objectStream) write(w io.Writer, e evaluated) error {
	if e.failed() {
		return nil
	}
	objects, err := deploy.Render(s.requests(e))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, o := range objects {
		doc, err := s.document(o.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", deploy.IDOf(o.Object), err)
		}
		fmt.Fprintf(&out, "---\n# resource %s\n%s", oneLine(string(o.Resource)), doc)
	}
	if len(s.left) > 0 {
		logstore.Warnf(s.log, "WARNING: left out, because of the values of Secrets: %s. --show-secrets prints them.", strings.Join(s.left, ", "))
	}
	_, err = w.Write(out.Bytes())
	return err
}

// requests returns what to render: the enabled resources with the images that they were last built as.
func (s *objectStream) requests(e evaluated) (out []deploy.InjectRequest) {
	enabled := state.EnabledNames(e.result.Tiltfile)
	images := imagebuild.NewMemory(command.ImagesDir())
	unbuilt := map[string]bool{}
	for _, m := range e.result.Manifests {
		if !m.IsK8s() || enabled != nil && !enabled[m.Name] {
			continue
		}
		if m.CustomDeploy() != nil {
			logstore.Infof(s.log, "%s is deployed by a command: it has no objects here.", m.Name)
		}
		results := map[string]model.ImageResult{}
		for _, t := range m.Images {
			if last, ok := images.Last(t); ok {
				results[t.Ref] = last
			} else {
				unbuilt[t.Ref] = true
			}
		}
		out = append(out, deploy.InjectRequest{Resource: m.Name, Namespace: s.namespace, Target: *m.K8s, Images: m.Images, Results: results})
	}
	if names := slices.Sorted(maps.Keys(unbuilt)); len(names) > 0 {
		logstore.Infof(s.log, "Not built yet, so the YAML names them as declared: %s.", strings.Join(names, ", "))
	}
	return out
}

// document returns an object as YAML. In place of one with values of Secrets, it returns a comment.
func (s *objectStream) document(u *unstructured.Unstructured) (string, error) {
	doc, err := yamltext.Marshal(u.Object)
	if err != nil || s.secrets == nil {
		return string(doc), err
	}
	id, keys := deploy.IDOf(u), secretKeys(u)
	switch {
	case len(keys) > 0:
		s.left = append(s.left, id.String())
		return fmt.Sprintf("# %s is left out: the values of %s are secret\n", oneLine(id.String()), oneLine(strings.Join(keys, ", "))), nil
	case s.secrets.Text(string(doc)) != string(doc):
		s.left = append(s.left, id.String())
		return fmt.Sprintf("# %s is left out: it has the value of a Secret\n", oneLine(id.String())), nil
	}
	return string(doc), nil
}

// secretKeys returns the keys of the values in a Secret.
func secretKeys(u *unstructured.Unstructured) []string {
	if id := deploy.IDOf(u); id.Group != "" || id.Kind != "Secret" {
		return nil
	}
	keys := map[string]bool{}
	for _, field := range []string{"data", "stringData"} {
		values, _, err := unstructured.NestedMap(u.Object, field)
		if err != nil {
			keys[field] = true
		}
		for k := range values {
			keys[k] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// oneLine returns a text for a comment.
func oneLine(s string) string { return text.Clean(strings.Join(strings.Fields(s), " ")) }
