package deploy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// An object that several projects declare as shared belongs to all of them. Each project has an annotation on it, and is a field
// manager of its own: the fields that it alone has declared go with it, and the fields that several have declared stay with the
// others. The last project deletes the object.

// sharerPrefix begins the annotations of the projects that share an object; the rest is the ID of the project.
const sharerPrefix = "sharer.hone.dev/"

// unheld is the value of such an annotation if it names no holder.
const unheld = "true"

func isShared(desired *unstructured.Unstructured) bool {
	return annotation(desired, model.AnnotationShared) == model.SharedTrue
}

// markShared returns the marks of a declared object that is shared. They name no resource, since each project may call the resource
// by another name. They name the project in an annotation, whose value is the project's holder.
func markShared(by maker) (labels, annotations map[string]string) {
	labels = map[string]string{LabelManagedBy: ManagedByHone}
	if by.project == "" {
		return labels, nil
	}
	return labels, map[string]string{sharerPrefix + by.project: cmp.Or(by.holder, unheld)}
}

// sharersOf returns the IDs of the projects that share an object, in order.
func sharersOf(u *unstructured.Unstructured) []string {
	var out []string
	for key := range field(u.Object, "metadata", "annotations") {
		if id, is := strings.CutPrefix(key, sharerPrefix); is {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// sharer returns the ID under which a project shares a live object: its own or a former one; empty if it does not.
func (a *Applier) sharer(project string, live *unstructured.Unstructured) string {
	ids := sharersOf(live)
	if i := slices.IndexFunc(ids, func(id string) bool { return a.sameProject(id, project) }); i >= 0 {
		return ids[i]
	}
	return ""
}

// otherSharers names the projects that share a live object with the given one.
func (a *Applier) otherSharers(project string, live *unstructured.Unstructured) (names []string) {
	for _, id := range sharersOf(live) {
		if !a.sameProject(id, project) {
			names = append(names, a.projectName(id))
		}
	}
	return names
}

// managerFor returns the field manager that writes a declared object over a live one. An object that the project does not own alone has
// one for each project: what one of them does not declare is no reason to remove what another one has.
func (a *Applier) managerFor(desired, live *unstructured.Unstructured) string {
	if p := project(desired); p != "" && (isShared(desired) || a.relationTo(desired, live) == relationShared) {
		return sharingManager(p)
	}
	return FieldManager
}

// sharingManager is the field manager of a project for shared objects.
func sharingManager(project string) string { return FieldManager + "-of-" + project }

// turnsShared hands the project's fields in an object to the field manager that the declaration asks for, if the object has become
// shared, is no longer shared, or is shared under a former ID of the project. It returns the updated object.
func (r *applyRun) turnsShared(ctx context.Context, t target, desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	was, is := r.a.sharer(project(desired), live), isShared(desired)
	switch {
	case was == "" && is && r.a.relationTo(desired, live) == relationOwn:
		return r.rewriteFields(ctx, t, live, renamed(FieldManager, sharingManager(project(desired))))
	case was != "" && !is:
		return r.rewriteFields(ctx, t, live, renamed(sharingManager(was), FieldManager))
	case was != "" && was != project(desired): // the project has had another ID
		return r.rewriteFields(ctx, t, live, renamed(sharingManager(was), r.a.managerFor(desired, live)))
	}
	return live, nil
}

// disagreement returns the problem for a shared object whose other sharers declare it differently; nil for other errors.
func (r *applyRun) disagreement(t target, u *unstructured.Unstructured, err error) error {
	var lines, elsewhere []string
	for _, c := range causes(err) {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		_, rest, _ := strings.Cut(c.Message, `"`)
		owner, _, _ := strings.Cut(rest, `"`)
		id, is := strings.CutPrefix(owner, sharingManager(""))
		switch {
		case !is:
		case c.Field == ".metadata.annotations."+AnnotationAppliedHash: // the hash differs as soon as any field does
			elsewhere = append(elsewhere, "other fields are declared in "+r.a.projectName(id))
		default:
			lines = append(lines, fmt.Sprintf("%s has another value in %s", c.Field, r.a.projectName(id)))
		}
	}
	if len(lines) == 0 {
		lines = elsewhere
	}
	if len(lines) == 0 || mayAdopt(u, u, r.req.Adopt) {
		return nil
	}
	slices.Sort(lines)
	return problem.New(fmt.Sprintf("%s is shared, and declared differently:\n  %s", title(t.id), strings.Join(slices.Compact(lines), "\n  ")),
		fmt.Sprintf("declare it alike everywhere, or let this declaration win: hone up --adopt, the key Y on its screen, or the annotation %s: %s",
			model.AnnotationAdopt, model.AdoptAlways)).See("preview")
}

// leaveShared takes the project off an object that others share, together with the fields that it alone has declared. done is set
// if the object stays: it does not if no project shares it now.
func (r *deleteRun) leaveShared(ctx context.Context, t target, live *unstructured.Unstructured) (after *unstructured.Unstructured, done bool, err error) {
	id := r.a.sharer(r.req.Project, live)
	others := r.a.otherSharers(r.req.Project, live)
	if len(others) == 0 {
		return live, false, nil
	}
	after, err = r.applyAs(ctx, t, live, sharingManager(id), nil)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err): // gone, or another object of the same name
		return live, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("leave it: %w", err)
	}
	others = r.a.otherSharers(r.req.Project, after)
	if len(others) == 0 { // they left at the same time
		return after, false, nil
	}
	logstore.Infof(r.req.Logger, "       → leaves %s to %s", shown(t.id), strings.Join(others, " and "))
	return after, true, nil
}

// deleteShared deletes an object that only this project shares, or leaves it to the others. kept is set if it stays.
func (r *deleteRun) deleteShared(ctx context.Context, t target, live *unstructured.Unstructured) (kept bool, err error) {
	for attempt := 1; ; attempt++ {
		after, done, err := r.leaveShared(ctx, t, live)
		if done || err != nil {
			return done, err
		}
		opts := deleteOptions(after)
		version := after.GetResourceVersion() // another project that joins changes it
		if opts.Preconditions == nil {
			opts.Preconditions = &metav1.Preconditions{}
		}
		opts.Preconditions.ResourceVersion = &version
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) error { return t.ri.Delete(ctx, t.id.Name, opts) })
		switch {
		case err == nil:
			return false, nil
		case !apierrors.IsConflict(err) || attempt == adoptAttempts:
			return false, err
		}
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return false, err
		}
		if after.GetUID() != live.GetUID() || len(sharersOf(live)) > 0 && r.a.sharer(r.req.Project, live) == "" {
			return true, nil
		}
	}
}
