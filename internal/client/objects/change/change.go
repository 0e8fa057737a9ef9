// Package change creates, patches, applies, edits and deletes objects of a session, and prints the results.
package change

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

// manager is the name of hone as the manager of fields.
const manager = "hone"

// DryRun determines how much of a change is carried out.
type DryRun string

// The dry runs: carry out everything, send nothing, and have the session only return the result.
const (
	DryRunNone   DryRun = "none"
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// ParseDryRun reads the value of --dry-run.
func ParseDryRun(text string) (DryRun, error) {
	switch d := DryRun(text); d {
	case DryRunNone, DryRunClient, DryRunServer:
		return d, nil
	}
	return "", problem.New(fmt.Sprintf("unknown --dry-run %q", text), "choose none, client (nothing is sent) or server (the session returns the result without changing anything)")
}

// all returns the parameter value for requests.
func (d DryRun) all() []string {
	if d == DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Writer changes objects of a session.
type Writer struct {
	Client *objects.Client
	Out    io.Writer
	DryRun DryRun
	// Output prints the changed objects instead of a message, if a format is set.
	Output *output.Flags
	// Validation determines how the session treats fields that a kind does not have.
	Validation string

	printer printers.ResourcePrinter
}

// ParseValidation reads the value of --validate.
func ParseValidation(text string) (string, error) {
	switch text {
	case "strict", "true":
		return metav1.FieldValidationStrict, nil
	case "warn":
		return metav1.FieldValidationWarn, nil
	case "ignore", "false":
		return metav1.FieldValidationIgnore, nil
	}
	return "", problem.New(fmt.Sprintf("unknown --validate %q", text), "choose strict, warn or ignore")
}

// Check reports an invalid output format, before anything is changed.
func (w *Writer) Check() (err error) {
	if w.Output.Output != "" {
		w.printer, err = w.Output.Printer()
	}
	return err
}

// patching returns the options of requests that change objects.
func (w *Writer) patching() metav1.PatchOptions {
	return metav1.PatchOptions{DryRun: w.DryRun.all(), FieldManager: manager, FieldValidation: w.Validation}
}

// done prints the change of an object.
func (w *Writer) done(k objects.Kind, u *unstructured.Unstructured, what string) error {
	if w.printer != nil {
		if err := w.printer.PrintObj(u, w.Out); err != nil {
			return fmt.Errorf("print the object: %w", err)
		}
		return nil
	}
	return w.say(k, u.GetName(), what)
}

func (w *Writer) say(k objects.Kind, name, what string) error {
	switch w.DryRun {
	case DryRunClient:
		what += " (dry run)"
	case DryRunServer:
		what += " (server dry run)"
	case DryRunNone:
	}
	_, err := fmt.Fprintf(w.Out, "%s %s\n", k.Ref(name), what)
	return err
}

// Create creates an object.
func (w *Writer) Create(ctx context.Context, u *unstructured.Unstructured) error {
	k, err := w.Client.KindOf(u.GroupVersionKind())
	if err != nil {
		return err
	}
	made, err := w.create(ctx, k, u)
	if err != nil {
		return err
	}
	return w.done(k, made, "created")
}

func (w *Writer) create(ctx context.Context, k objects.Kind, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if !k.Can("create") {
		return nil, readOnly(k)
	}
	if w.DryRun == DryRunClient {
		return u, nil
	}
	made, err := w.Client.Of(k).Create(ctx, u, metav1.CreateOptions{DryRun: w.DryRun.all(), FieldManager: manager, FieldValidation: w.Validation})
	if err != nil {
		return nil, objects.Explain(err)
	}
	if made.GetName() == "" { // the session has accepted the object but not created it yet
		return u, nil
	}
	return made, nil
}

// readOnly returns the problem that objects of a kind cannot be changed.
func readOnly(k objects.Kind) error {
	return problem.New(fmt.Sprintf("%s are read-only", k), "hone api-resources -o wide lists the verbs of each kind")
}
