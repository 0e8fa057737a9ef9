package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/yamltext"
)

// sendAttempts bounds how often one object is sent with the corrections that the server's answers require.
const sendAttempts = 6

// send applies one object server-side. It takes back fields that others own, and omits fields that the server does not
// know, each with a line in the log.
func (r *applyRun) send(ctx context.Context, t target, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return r.sendAs(ctx, t, desired, false)
}

// sendAs is send. With force it takes fields from others without logging that.
func (r *applyRun) sendAs(ctx context.Context, t target, desired *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error) {
	u, err := r.marked(desired)
	if err != nil {
		return nil, err
	}
	retried := false
	pauses := retry.Backoff{First: 50 * time.Millisecond, Most: time.Second}
	for attempt := 1; ; attempt++ {
		got, err := r.patch(ctx, t, u, r.a.managerFor(u, nil), force)
		if err == nil {
			return got, nil
		}
		last := attempt == sendAttempts
		switch unknown := unknownFields(err); {
		case last:
			return nil, sendError(err, u)
		case isShared(u) && !force && r.disagreement(t, u, err) != nil:
			return nil, r.disagreement(t, u, err)
		case repeatedEntries(err) && !isShared(u):
			logstore.Warnf(r.req.Logger, "%s: %s: written as a whole, without field ownership", title(t.id), typedComplaint(err))
			return r.sendWhole(ctx, t, u)
		case len(fieldConflicts(err)) > 0 && !force:
			say := logstore.Warnf
			if r.req.Restoring {
				say = logstore.Infof
			}
			for _, line := range fieldConflicts(err) {
				say(r.req.Logger, "%s: %s", title(t.id), line)
			}
			force = true
		case len(unknown) > 0 && removeAll(u.Object, unknown):
			for _, f := range unknown {
				logstore.Warnf(r.req.Logger, "%s: the API server does not know the field %s: left out", title(t.id), f)
			}
		case IsContended(err) && pauses.Sleep(ctx):
		case !retried && apierrors.IsNotFound(err) && missingNamespace(err) == "":
			retried = true
		default:
			return nil, sendError(err, u)
		}
	}
}

// marked returns a copy of an object with the mark of the run.
func (r *applyRun) marked(desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	u := desired.DeepCopy()
	if r.a.runID == "" || isShared(u) { // several projects run
		return u, nil
	}
	return u, setMeta(u.Object, "annotations", map[string]string{AnnotationRunID: r.a.runID})
}

// patch sends a single server-side apply request, as a field manager.
func (r *applyRun) patch(ctx context.Context, t target, u *unstructured.Unstructured, manager string, force bool) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var got *unstructured.Unstructured
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		// The API server reads the body of an apply as YAML.
		got, err = t.ri.Patch(ctx, t.id.Name, types.ApplyPatchType, yamltext.Readable(body), r.patchOptions(manager, force))
		return err
	})
	return got, err
}

// sendWhole writes an object with list entries that have the same key in server-side apply, for example two names for
// one container port. The API server accepts such objects only in create and merge-patch requests.
func (r *applyRun) sendWhole(ctx context.Context, t target, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var got *unstructured.Unstructured
	write := func(ctx context.Context) (err error) {
		opts := metav1.PatchOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationWarn, DryRun: r.dryRun()}
		got, err = t.ri.Patch(ctx, t.id.Name, types.MergePatchType, body, opts)
		if apierrors.IsNotFound(err) && missingNamespace(err) == "" {
			create := metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationWarn, DryRun: r.dryRun()}
			got, err = t.ri.Create(ctx, u, create)
		}
		return err
	}
	err = bounded(ctx, r.req.Timeout, write)
	if apierrors.IsAlreadyExists(err) { // created meanwhile, or by a request whose answer was lost
		err = bounded(ctx, r.req.Timeout, write)
	}
	if err != nil {
		return nil, sendError(err, u)
	}
	return got, nil
}

// errUnreadable is the cause if a value has a type that the API server does not accept.
var errUnreadable = errors.New("a value has another type than its field")

// sendError turns errors that the user can act on into problems.
func sendError(err error, u *unstructured.Unstructured) error {
	ns := u.GetNamespace()
	switch {
	case typedComplaint(err) != "":
		return problem.Wrap(errUnreadable, "the API server cannot read the object: "+typedComplaint(err),
			"correct the YAML: numbers and booleans that are meant as text need quotes")
	case missingNamespace(err) != "":
		return problem.Wrap(err, fmt.Sprintf("namespace %q does not exist", missingNamespace(err)),
			fmt.Sprintf("create it (kubectl create namespace %s), or add a Namespace object to the YAML", ns))
	case lacksKind(err): // the mapper still knows a kind whose definition is gone
		return unknownKind(err, u)
	case apierrors.HasStatusCause(err, "NamespaceTerminating"):
		return problem.Wrap(err, fmt.Sprintf("namespace %q is being deleted", ns),
			"wait until it is gone, then update the resource again")
	case apierrors.IsForbidden(err):
		return problem.Wrap(err, "the cluster does not allow it",
			fmt.Sprintf("ask for permission to patch %s in namespace %q, or use another context", strings.ToLower(u.GetKind()), ns))
	}
	return err
}

// missingNamespace returns the namespace that err reports as missing. It is empty for other errors.
func missingNamespace(err error) string {
	if !apierrors.IsNotFound(err) {
		return ""
	}
	if d := details(err); d != nil && d.Kind == "namespaces" {
		return d.Name
	}
	return ""
}

// fieldConflicts describes, for each other owner, the fields that a server-side apply would take from it.
func fieldConflicts(err error) []string {
	byOwner := map[string][]string{}
	var owners []string
	for _, c := range causes(err) {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		owner := c.Message
		if _, rest, ok := strings.Cut(c.Message, `"`); ok {
			owner, _, _ = strings.Cut(rest, `"`)
		}
		if byOwner[owner] == nil {
			owners = append(owners, owner)
		}
		byOwner[owner] = append(byOwner[owner], c.Field)
	}
	lines := make([]string, 0, len(owners))
	for _, o := range owners {
		fields := slices.Compact(slices.Sorted(slices.Values(byOwner[o])))
		lines = append(lines, fmt.Sprintf("%s was changed by %q: taken back", summary(fields), o))
	}
	return lines
}

// causes returns the individual causes of an API server's error.
func causes(err error) []metav1.StatusCause {
	if d := details(err); d != nil {
		return d.Causes
	}
	return nil
}

func details(err error) *metav1.StatusDetails {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	return status.Status().Details
}
