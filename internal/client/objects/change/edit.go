package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/client/objects"
)

// Edit configures how objects are edited.
type Edit struct {
	Editor editor.Editor
	// JSON shows objects as JSON instead of YAML.
	JSON bool
	// PrintPatch prints the resulting patch.
	PrintPatch bool
	// Status changes only the status.
	Status bool
	// ManagedFields also shows metadata.managedFields.
	ManagedFields bool
	// Remember records the edited configuration in the object, as apply does.
	Remember bool
	// Windows ends lines as editors on Windows expect.
	Windows bool
}

// introduction is the beginning of the edited file, as comments.
const introduction = `Edit the object, save it, and leave the editor. Lines that begin with # are ignored;
an empty file changes nothing. If the session refuses the change, the file opens again with the reason.
`

// errUnchanged means that the user left the editor without a change.
var errUnchanged = errors.New("nothing was changed")

// Edit opens the objects of a target in an editor, one after another, and writes the changes.
func (w *Writer) Edit(ctx context.Context, t objects.Target, e Edit) error {
	if !t.Kind.Can("patch") {
		return readOnly(t.Kind)
	}
	for _, name := range t.Names {
		u, err := w.Client.Get(ctx, t.Kind, name)
		if err != nil {
			return err
		}
		if !e.ManagedFields {
			u.SetManagedFields(nil)
		}
		var patch []byte
		var is *unstructured.Unstructured
		err = e.loop(ctx, u, func(edited *unstructured.Unstructured) (err error) {
			if patch, err = difference(u, edited); err != nil {
				return err
			}
			if string(patch) == "{}" {
				return errUnchanged
			}
			if e.Remember {
				if err := Remember(edited); err != nil {
					return err
				}
				if patch, err = difference(u, edited); err != nil {
					return err
				}
			}
			is, err = w.Client.Patch(ctx, t.Kind, name, types.MergePatchType, patch, w.patching(), e.Status)
			return err
		})
		if errors.Is(err, errUnchanged) {
			fmt.Fprintln(w.Out, "Edit cancelled, no changes made.")
			continue
		}
		if err != nil {
			return err
		}
		if e.PrintPatch {
			fmt.Fprintf(w.Out, "Patch: %s\n", patch)
		}
		if err := w.done(t.Kind, is, "edited"); err != nil {
			return err
		}
	}
	return nil
}

// CreateEdited opens an object in an editor and creates the edited object.
func (w *Writer) CreateEdited(ctx context.Context, u *unstructured.Unstructured, e Edit) error {
	var made *unstructured.Unstructured
	var k objects.Kind
	write := func(edited *unstructured.Unstructured) (err error) {
		if k, err = w.Client.KindOf(edited.GroupVersionKind()); err != nil {
			return err
		}
		if e.Remember {
			if err := Remember(edited); err != nil {
				return err
			}
		}
		made, err = w.create(ctx, k, edited)
		return err
	}
	if err := e.loop(ctx, u, write); errors.Is(err, errUnchanged) {
		err = write(u)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return w.done(k, made, "created")
}

// loop opens an object in the editor until write accepts the result, or until the user cancels by leaving the file unchanged
// or emptying it.
func (e Edit) loop(ctx context.Context, u *unstructured.Unstructured, write func(*unstructured.Unstructured) error) error {
	original, err := e.render(u)
	if err != nil {
		return err
	}
	shown, failure := original, error(nil)
	for {
		text, path, err := e.Editor.Edit(ctx, e.pattern(), e.lines(append(comments(failure), shown...)))
		if err != nil {
			return e.failed(path, shown, err)
		}
		edited := uncommented(text)
		switch {
		case len(bytes.TrimSpace(edited)) == 0, failure == nil && bytes.Equal(edited, uncommented(shown)):
			_ = os.Remove(path)
			return errUnchanged
		case failure != nil && bytes.Equal(edited, uncommented(shown)):
			return keeping(path, failure)
		}
		next, err := decode(edited)
		if err == nil {
			err = write(next)
		}
		if err == nil || errors.Is(err, errUnchanged) || ctx.Err() != nil {
			_ = os.Remove(path)
			return err
		}
		_ = os.Remove(path)
		shown, failure = edited, err
	}
}

// failed keeps the user's text, if any, after the editor has failed.
func (e Edit) failed(path string, shown []byte, err error) error {
	if left, lost := os.ReadFile(path); lost == nil && bytes.Equal(uncommented(left), uncommented(shown)) {
		_ = os.Remove(path)
		return problem.Wrap(err, "nothing was changed", "choose another editor: export TILT_EDITOR=PROGRAM; without one: hone patch, or hone apply")
	}
	return keeping(path, err)
}

// keeping adds to an error the path of the user's text.
func keeping(path string, err error) error {
	if path == "" {
		return err
	}
	return problem.Wrap(err, "the edit was abandoned", "what you wrote is in "+path)
}

func (e Edit) render(u *unstructured.Unstructured) ([]byte, error) {
	if e.JSON {
		text, err := json.MarshalIndent(u.Object, "", "    ")
		if err != nil {
			return nil, fmt.Errorf("show the object: %w", err)
		}
		return append(text, '\n'), nil
	}
	text, err := yamltext.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("show the object: %w", err)
	}
	return text, nil
}

// lines returns a text with the line ends that the editor expects.
func (e Edit) lines(text []byte) []byte {
	if e.Windows {
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

func (e Edit) pattern() string {
	if e.JSON {
		return "hone-edit-*.json"
	}
	return "hone-edit-*.yaml"
}

// comments returns the comments above the object: the instructions, and the error of the last attempt.
func comments(failure error) []byte {
	text := introduction
	if failure != nil {
		text += "\nThe session did not accept this:\n" + problem.Text(failure) + "\n"
	}
	var b bytes.Buffer
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	b.WriteString("#\n")
	return b.Bytes()
}

// uncommented removes the comments and empty lines above the object.
func uncommented(text []byte) []byte {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			break
		}
		text = rest
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

func decode(text []byte) (*unstructured.Unstructured, error) {
	all, err := objects.Decode("the edited file", bytes.NewReader(text))
	switch {
	case err != nil:
		return nil, err
	case len(all) != 1:
		return nil, fmt.Errorf("there are %d objects in the file instead of one", len(all))
	}
	return all[0], nil
}

// difference returns the merge patch that turns one object into another.
func difference(was, is *unstructured.Unstructured) ([]byte, error) {
	if was.GetName() != is.GetName() || was.GroupVersionKind() != is.GroupVersionKind() {
		return nil, problem.New("apiVersion, kind and name cannot be changed", "create a new object instead: hone create -f PATH")
	}
	a, err := json.Marshal(was.Object)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(is.Object)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(a, b)
}
