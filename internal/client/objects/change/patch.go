package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/client/objects"
)

// Patch is a change of some fields.
type Patch struct {
	Type types.PatchType
	Data []byte
	// Status patches only the status.
	Status bool
}

// patchTypes are the kinds of patches by their names on the command line.
var patchTypes = map[string]types.PatchType{"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType}

// ParsePatch reads a patch in JSON or YAML.
func ParsePatch(kind, text, subresource string) (Patch, error) {
	p := Patch{Type: patchTypes[kind]}
	if p.Type == "" {
		return p, problem.New(fmt.Sprintf("unknown --type %q", kind), "choose json, merge or strategic, which does the same as merge here")
	}
	switch subresource {
	case "":
	case "status":
		p.Status = true
	default:
		return p, problem.New(fmt.Sprintf("unknown --subresource %q", subresource), "choose status, or leave it out")
	}
	if text == "" {
		return p, problem.New("there is no patch", `for example: -p '{"status":{"triggerMode":1}}', or --patch-file PATH`)
	}
	var err error
	if p.Data, err = yamltext.ToJSON([]byte(text)); err != nil {
		return p, problem.Wrap(err, "the patch is neither JSON nor YAML", `for example: -p '{"status":{"triggerMode":1}}'`)
	}
	if list := bytes.HasPrefix(p.Data, []byte("[")); list != (p.Type == types.JSONPatchType) {
		return p, misfit(list)
	}
	return p, nil
}

// misfit returns the problem that the form of a patch does not match its type.
func misfit(list bool) error {
	if list {
		return problem.New("the patch is a list of operations", "leave out the brackets, or use --type json")
	}
	return problem.New("a patch of --type json is a list of operations", `for example: -p '[{"op":"replace","path":"/status/triggerMode","value":1}]'`)
}

// Patch changes the objects of a target.
func (w *Writer) Patch(ctx context.Context, t objects.Target, p Patch) error {
	if !t.Kind.Can("patch") {
		return readOnly(t.Kind)
	}
	var errs []error
	for _, name := range t.Names {
		if err := w.patchOne(ctx, t.Kind, name, p); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (w *Writer) patchOne(ctx context.Context, k objects.Kind, name string, p Patch) error {
	was, err := w.Client.Get(ctx, k, name)
	if err != nil {
		return err
	}
	if w.DryRun == DryRunClient {
		return w.done(k, was, "patched")
	}
	is, err := w.Client.Patch(ctx, k, name, p.Type, p.Data, w.patching(), p.Status)
	if err != nil {
		return err
	}
	what := "patched"
	if same(was.Object, is.Object) {
		what = "patched (no change)"
	}
	return w.done(k, is, what)
}
