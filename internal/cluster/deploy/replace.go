package deploy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
)

// immutableText matches the API server's messages about values that may not change once the object exists.
var immutableText = regexp.MustCompile(`(?i)immutable|may not change once set|may not be changed|cannot be changed|` +
	`cannot change roleRef|updates to .* (fields other than|are forbidden)|pod updates may not|may not be updated`)

// immutableFields returns the fields because of which the API server rejects a change in place. It returns nil for
// other errors.
func immutableFields(err error) []string {
	if !apierrors.IsInvalid(err) {
		return nil
	}
	var fields []string
	for _, c := range causes(err) {
		if immutableText.MatchString(c.Message) {
			fields = append(fields, c.Field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// irreplaceable are the kinds that are never deleted and recreated, because their deletion also removes other data.
var irreplaceable = map[string]string{
	"PersistentVolumeClaim":    "its data would be lost",
	"PersistentVolume":         "its data would be lost",
	"Namespace":                "everything in it would be lost",
	"CustomResourceDefinition": "all objects of its kind would be lost",
}

// toReplace returns the fields for which an object has to be replaced: the API server refuses to change them in place. It has then
// confirmed that the declared object is valid, so an invalid one does not cost the working object. Without such fields, toReplace
// returns the error that stands: cause, or the reason why the object is not replaced.
func (r *applyRun) toReplace(ctx context.Context, t target, d decision, live *unstructured.Unstructured, cause error) ([]string, error) {
	fields := immutableFields(cause)
	switch {
	case len(fields) == 0 || live == nil:
		return nil, cause
	case d.verb == verbAdopt:
		return nil, irreplaceableAdopted(t, fields, cause)
	}
	if err := r.replaceable(ctx, t, d.desired, live, fields, cause); err != nil {
		return nil, err
	}
	return fields, nil
}

// recreate deletes the live object and creates the desired one.
func (r *applyRun) recreate(ctx context.Context, t target, desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	err := bounded(ctx, r.req.Timeout, func(ctx context.Context) error {
		return t.ri.Delete(ctx, t.id.Name, deleteOptions(live))
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("delete for replacement: %w", err)
	}
	if err := r.awaitGone(ctx, t, live); err != nil {
		return nil, err
	}
	return r.send(ctx, t, desired)
}

// replaceable returns why an object that cannot be changed in place must not, or cannot, be replaced; nil if it can.
func (r *applyRun) replaceable(ctx context.Context, t target, desired, live *unstructured.Unstructured, fields []string, cause error) error {
	what := strings.Join(fields, ", ")
	if why := irreplaceable[t.id.Kind]; protected(t.id) {
		return problem.Wrap(cause, fmt.Sprintf("%s cannot be changed in place, and hone does not replace it: %s", what, why),
			fmt.Sprintf("undo the change, or delete the object yourself: kubectl delete %s %s", strings.ToLower(t.id.Kind), t.id.Name))
	}
	if annotation(live, AnnotationDownPolicy) == "keep" || annotation(live, AnnotationTiltDownPolicy) == "keep" {
		return problem.Wrap(cause, fmt.Sprintf("%s cannot be changed in place, and the object's %s is keep", what, AnnotationDownPolicy),
			"undo the change, or delete the object yourself")
	}
	if annotation(live, AnnotationAdopted) != "" {
		return irreplaceableAdopted(t, fields, cause)
	}
	if others := r.a.otherSharers(project(desired), live); len(others) > 0 {
		return problem.Wrap(cause, fmt.Sprintf("%s cannot be changed in place, and %s would lose the object", what, strings.Join(others, " and ")),
			"undo the change, or give the object another name")
	}
	return r.valid(ctx, t, desired, what+" cannot be changed in place")
}

// valid returns a problem if the API server would refuse the desired object as a new one. why is the reason for a new one.
func (r *applyRun) valid(ctx context.Context, t target, desired *unstructured.Unstructured, why string) error {
	if err := r.tryCreate(ctx, t, desired); err != nil {
		return problem.New(fmt.Sprintf("%s, and the object is not valid as a new one: %s", why, err),
			"correct the YAML; the object in the cluster is unchanged")
	}
	return nil
}

// irreplaceableAdopted returns the problem for an adopted object that cannot be changed in place: hone must not delete
// it.
func irreplaceableAdopted(t target, fields []string, cause error) error {
	return problem.Wrap(cause, fmt.Sprintf("%s cannot be changed in place, and hone did not make the object", strings.Join(fields, ", ")),
		fmt.Sprintf("undo the change, or delete the object yourself: kubectl delete %s %s", strings.ToLower(t.id.Kind), t.id.Name)).See("preview")
}

// tryCreate checks, by a dry run, whether the server would accept the object as a new one. The temporary name of the
// dry run does not appear in the error.
func (r *applyRun) tryCreate(ctx context.Context, t target, desired *unstructured.Unstructured) error {
	u := desired.DeepCopy()
	scratch := scratchName()
	u.SetName(scratch)
	err := bounded(ctx, r.req.Timeout, func(ctx context.Context) error {
		_, err := t.ri.Create(ctx, u, metav1.CreateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll},
			FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	if err == nil || taken(err) {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), scratch, t.id.Name))
}

func scratchName() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return "hone-check-" + hex.EncodeToString(b)
}

// taken reports whether a new object is rejected only because the old one still holds something: its address, its port,
// its share of a quota.
func taken(err error) bool {
	if apierrors.IsForbidden(err) {
		return strings.Contains(err.Error(), "exceeded quota")
	}
	list := causes(err)
	return apierrors.IsInvalid(err) && len(list) > 0 && !slices.ContainsFunc(list, func(c metav1.StatusCause) bool {
		return !strings.Contains(c.Message, "already allocated")
	})
}

// deleteOptions returns the options that delete exactly the live object. The pods of a StatefulSet have fixed names, so
// the StatefulSet is deleted after them. The dependents of other objects are deleted in the background.
func deleteOptions(live *unstructured.Unstructured) metav1.DeleteOptions {
	propagation := metav1.DeletePropagationBackground
	if live.GetKind() == "StatefulSet" {
		propagation = metav1.DeletePropagationForeground
	}
	uid := live.GetUID()
	opts := metav1.DeleteOptions{PropagationPolicy: &propagation}
	if uid != "" {
		opts.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return opts
}
