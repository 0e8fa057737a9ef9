package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// formerManager is the field manager that holds the fields of another hone project while this project has adopted the
// object.
const formerManager = "hone-before-adoption"

// relation is the relation of a live object to the project that applies it.
type relation int

const (
	// relationNone: the object does not exist yet.
	relationNone relation = iota
	// relationOwn: the project made the object, or adopted it before.
	relationOwn
	// relationShared: others made the object, and its kind is usually shared, such as a namespace.
	relationShared
	// relationForeign: others made the object.
	relationForeign
	// relationJoins: other projects share the object, and the declaration shares it too.
	relationJoins
	// relationHeld: the project made the object, from elsewhere.
	relationHeld
)

// refuses reports whether an object of this relation is applied only with permission.
func (r relation) refuses() bool { return r == relationForeign || r == relationHeld }

// relationTo returns the relation of a live object to the project that declares desired. The holder of the object
// decides first, then the projects that share it, and then its labels.
func (a *Applier) relationTo(desired, live *unstructured.Unstructured) relation {
	project := project(desired)
	switch {
	case live == nil:
		return relationNone
	case a.heldElsewhere(project, live) != "":
		return relationHeld
	case isShared(desired) && len(sharersOf(live)) > 0:
		if a.sharer(project, live) == "" {
			return relationJoins
		}
		return relationOwn
	case len(a.otherSharers(project, live)) > 0:
		return relationForeign
	case a.sharer(project, live) != "":
		return relationOwn
	case a.owns(project, live):
		return relationOwn
	case common(IDOf(live)):
		return relationShared
	}
	return relationForeign
}

// owns reports whether an object belongs to a project, by its labels.
func (a *Applier) owns(project string, live *unstructured.Unstructured) bool {
	return label(live, LabelManagedBy) == ManagedByHone && a.sameProject(label(live, LabelProject), project)
}

// common reports whether an object is usually shared rather than owned, because it holds objects of others. The service
// account "default" counts because Kubernetes makes it in each namespace.
func common(id model.ObjectID) bool {
	switch id.Kind {
	case "Namespace":
		return id.Group == ""
	case "CustomResourceDefinition":
		return id.Group == "apiextensions.k8s.io"
	case "ServiceAccount":
		return id.Group == "" && id.Name == "default"
	}
	return false
}

// origin holds the values that an adopted object had under the names of hone's marks. The annotation AnnotationAdopted
// stores it. `down` restores these values instead of deleting the object.
type origin struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// markLabels and markAnnotations are the names of the marks on an object.
var (
	markLabels      = []string{LabelManagedBy, LabelProject, LabelResource, storage.PartOf}
	markAnnotations = []string{AnnotationAppliedHash, AnnotationRunID, AnnotationResourceName, AnnotationAdopted, AnnotationHolder}
)

func originOf(live *unstructured.Unstructured) origin {
	return origin{chosen(live.GetLabels(), markLabels), chosen(live.GetAnnotations(), markAnnotations)}
}

// chosen returns the entries of m that have one of the given keys.
func chosen(m map[string]string, keys []string) map[string]string {
	var out map[string]string
	for _, k := range keys {
		if v, ok := m[k]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	return out
}

// foreignTo describes who made a live object that is not the project's, as part of a message: "it is managed by
// "Helm"".
func (a *Applier) foreignTo(live *unstructured.Unstructured) string {
	by, project := label(live, LabelManagedBy), label(live, LabelProject)
	switch {
	case len(sharersOf(live)) > 0:
		var names []string
		for _, id := range sharersOf(live) {
			names = append(names, a.projectName(id))
		}
		return "it is shared by " + strings.Join(names, " and ")
	case removedLabel(live) != "":
		return "its label " + removedLabel(live) + " was removed, so that hone does not know it as its own"
	case by == ManagedByHone && project != "":
		return "it belongs to " + a.projectName(project)
	case by != "":
		return fmt.Sprintf("it is managed by %q", by)
	}
	var last metav1.ManagedFieldsEntry
	for _, m := range live.GetManagedFields() {
		later := last.Time == nil || m.Time != nil && last.Time.Before(m.Time)
		if later && m.Subresource == "" {
			last = m
		}
	}
	if last.Manager == "" {
		return "hone did not make it"
	}
	return fmt.Sprintf("%q wrote it", last.Manager)
}

// ownerLabels are the labels that say whose an object is.
var ownerLabels = []string{LabelManagedBy, LabelProject}

// removedLabel returns the label that others have removed from an object of one project; empty if it has both, or hone did not make it.
// What hone has applied has a hash, which users do not write. Objects that projects share have no label of one of them.
func removedLabel(live *unstructured.Unstructured) string {
	if annotation(live, AnnotationAppliedHash) == "" {
		return ""
	}
	for _, name := range ownerLabels {
		if label(live, name) == "" {
			return name
		}
	}
	return ""
}

// removedLabels are the declared labels of ownerLabels that others have removed, as a drift.
func removedLabels(desired, live *unstructured.Unstructured) (fields []api.FieldChange) {
	for _, name := range ownerLabels {
		if want := label(desired, name); want != "" && label(live, name) == "" {
			fields = append(fields, api.FieldChange{Path: "metadata.labels" + keyText(name), Class: api.ChangeDrift, To: want})
		}
	}
	return fields
}

// before returns the UID of an object that was applied before; empty if none was.
func (r *applyRun) before(id model.ObjectID) string {
	if r.req.Before == nil {
		return ""
	}
	return r.req.Before(id)
}

// projectName names another project, by its Tiltfile if this machine knows it.
func (a *Applier) projectName(project string) string {
	if a.projects != nil {
		if path := a.projects(project); path != "" {
			return "the project of " + path
		}
	}
	return "another project (" + project + ")"
}

// mayAdopt reports whether the object may be taken over: by its declaration, else if the user asks for it.
func mayAdopt(desired, live *unstructured.Unstructured, asked bool) bool {
	switch annotation(desired, model.AnnotationAdopt) {
	case model.AdoptAlways:
		return true
	case model.AdoptKubectl:
		return asked || madeByKubectl(live)
	case model.AdoptNever:
		return false
	}
	return asked
}

// lastAppliedByKubectl is the annotation of kubectl apply on the client side.
const lastAppliedByKubectl = "kubectl.kubernetes.io/last-applied-configuration"

// madeByKubectl reports whether kubectl apply made an object, and no other tool has claimed it.
func madeByKubectl(live *unstructured.Unstructured) bool {
	if by := label(live, LabelManagedBy); by != "" && by != "kubectl" {
		return false
	}
	if len(sharersOf(live))+len(live.GetOwnerReferences()) > 0 {
		return false
	}
	return annotation(live, lastAppliedByKubectl) != "" || slices.ContainsFunc(live.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "kubectl" && isApply(m)
	})
}

// lastingMend returns the hint that makes hone take over the objects of kubectl apply in every run.
func lastingMend(live *unstructured.Unstructured) string {
	if !madeByKubectl(live) {
		return ""
	}
	return fmt.Sprintf(" For all that kubectl apply made, each time: update_settings(adopt='%s') in the Tiltfile.", model.AdoptKubectl)
}

// refusal returns the problem for an object that is refused.
func (s *subject) refusal() error {
	t, live := s.t, s.live
	switch {
	case readOnly(s.declared):
		return absentReadOnly(t)
	case s.err != nil:
		return s.err
	case s.heldBy() != "":
		return refusedHeld(t, s.heldBy())
	case s.lostLabel():
		return problem.New(fmt.Sprintf("%s: its label %s was removed, so that hone does not write it", title(t.id), removedLabel(live)),
			"to put the label back: the key U on the screen of hone up, or hone up --adopt; hone ci and hone deploy take --adopt, too").See("preview")
	}
	ns := ""
	if t.id.Namespace != "" {
		ns = " -n " + t.id.Namespace
	}
	return problem.New(fmt.Sprintf("%s exists already: %s", title(t.id), s.a.foreignTo(live)),
		fmt.Sprintf("to work on it with hone for a while: hone up --adopt, the key Y on its screen, or the annotation %s: %s in its YAML;\n"+
			"hone down gives it back.%s If it is not needed: kubectl delete%s %s %s",
			model.AnnotationAdopt, model.AdoptAlways, lastingMend(live), ns, strings.ToLower(t.id.Kind), t.id.Name)).See("preview")
}

// adopt applies the desired object over one that others made. Fields that only the live object has stay, and stay owned
// by others. The values that hone's labels and annotations replace are saved, so that they can be restored.
func (r *applyRun) adopt(ctx context.Context, t target, desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	note, err := json.Marshal(originOf(live))
	if err != nil {
		return nil, fmt.Errorf("encode its original labels and annotations: %w", err)
	}
	logstore.Warnf(r.req.Logger, "%s exists already: %s. hone takes it over, as you allow, and gives it back when it is no longer needed",
		title(t.id), r.a.foreignTo(live))
	if r.req.Found != nil {
		if err := r.req.Found.RememberFound(live); err != nil {
			return nil, err
		}
	}
	// Otherwise the apply would remove fields that the other project declared and this one does not.
	if _, err = r.rewriteFields(ctx, t, live, renamed(FieldManager, formerManager)); err != nil {
		return nil, err
	}
	desired = desired.DeepCopy()
	if err := setMeta(desired.Object, "annotations", map[string]string{AnnotationAdopted: string(note)}); err != nil {
		return nil, err
	}
	got, err := r.sendAs(ctx, t, desired, true)
	if err != nil {
		return nil, err
	}
	return r.rewriteFields(ctx, t, got, released)
}

// useShared applies the declaration to a shared object, unless another field manager has set other values. The object
// stays foreign: it gets no marks, and hone never deletes it.
func (r *applyRun) useShared(ctx context.Context, t target, desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	u := desired.DeepCopy()
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	for _, k := range markLabels {
		delete(labels, k)
	}
	for _, k := range markAnnotations {
		delete(annotations, k)
	}
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	got, err := r.patch(ctx, t, u, sharingManager(project(desired)), mayAdopt(desired, live, r.req.Adopt))
	if lines := conflictsOf(err); len(lines) > 0 {
		return nil, problem.New(fmt.Sprintf("%s exists already, differs, and %s:\n  %s", title(t.id), r.a.foreignTo(live), strings.Join(lines, "\n  ")),
			fmt.Sprintf("declare it as it is, leave it out of the YAML, or let hone change it: hone up --adopt, the key Y on its screen, or the annotation %s: %s",
				model.AnnotationAdopt, model.AdoptAlways)).See("preview")
	}
	if err != nil {
		return nil, sendError(err, u)
	}
	return got, nil
}

// conflictsOf describes the fields that others have set to other values, with their owners.
func conflictsOf(err error) []string {
	var lines []string
	for _, line := range fieldConflicts(err) {
		lines = append(lines, strings.Replace(strings.TrimSuffix(line, ": taken back"), "was changed", "was set", 1))
	}
	return lines
}

// keepAdopted copies the annotation AnnotationAdopted from an adopted live object to the desired one.
func keepAdopted(desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	note := annotation(live, AnnotationAdopted)
	if note == "" {
		return desired, nil
	}
	desired = desired.DeepCopy()
	return desired, setMeta(desired.Object, "annotations", map[string]string{AnnotationAdopted: note})
}

// fieldEdit changes the owners of fields; changed is false if the result is the same.
type fieldEdit func([]metav1.ManagedFieldsEntry) (after []metav1.ManagedFieldsEntry, changed bool, err error)

// renamed moves the fields of one manager to another manager.
func renamed(from, to string) fieldEdit {
	return func(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
		out, changed := slices.Clone(entries), false
		for i := range out {
			if out[i].Manager == from && out[i].Subresource == "" {
				out[i].Manager, changed = to, true
			}
		}
		return out, changed, nil
	}
}

// released removes the fields that hone now applies from the managers that applied the object before. A field that
// leaves the declaration then also leaves the object. The former managers keep their other fields.
func released(entries []metav1.ManagedFieldsEntry) (after []metav1.ManagedFieldsEntry, changed bool, err error) {
	mine := fieldpath.NewSet()
	for _, m := range entries {
		if m.Manager == FieldManager && m.Operation == metav1.ManagedFieldsOperationApply && m.FieldsV1 != nil {
			if err := mine.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
				return nil, false, fmt.Errorf("read who owns its fields: %w", err)
			}
		}
	}
	for _, m := range entries {
		former := m.Manager == formerManager || slices.Contains(clientSide, m.Manager)
		if !former || m.Subresource != "" || m.FieldsV1 == nil {
			after = append(after, m)
			continue
		}
		theirs := fieldpath.NewSet()
		if err := theirs.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
			return nil, false, fmt.Errorf("read who owns its fields: %w", err)
		}
		rest := theirs.Difference(mine)
		changed = changed || !rest.Equals(theirs)
		if rest.Empty() {
			continue
		}
		raw, err := rest.ToJSON()
		if err != nil {
			return nil, false, fmt.Errorf("write who owns its fields: %w", err)
		}
		m.FieldsV1 = metav1.NewFieldsV1(string(raw))
		after = append(after, m)
	}
	return after, changed, nil
}

// rewriteFields changes the owners of the fields of a live object and returns the updated object. It makes several
// attempts, because controllers also write to the object.
func (r *applyRun) rewriteFields(ctx context.Context, t target, live *unstructured.Unstructured, edit fieldEdit) (*unstructured.Unstructured, error) {
	for attempt := 1; ; attempt++ {
		entries, changed, err := edit(live.GetManagedFields())
		if err != nil || !changed {
			return live, err
		}
		if len(entries) == 0 {
			entries = []metav1.ManagedFieldsEntry{{}} // the API server clears all owners
		}
		got, err := jsonPatch(ctx, t, r.req.Timeout, live,
			patchStep{"replace", "/metadata/managedFields", entries})
		if err == nil || !apierrors.IsConflict(err) || attempt == adoptAttempts {
			return got, err
		}
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
}

// adoptAttempts bounds the attempts of a change that conflicts with writes of others.
const adoptAttempts = 5

// giveBack removes hone's marks from an adopted object, or one that becomes an orphan, and restores the values that they replaced. An
// adopted object becomes as it was found, where that is known; otherwise it stays as it was last applied.
func (r *deleteRun) giveBack(ctx context.Context, t target, live *unstructured.Unstructured) error {
	uid := live.GetUID()
	var was origin
	forgets := r.req.Removal == RemovalForgotten
	note := annotation(live, AnnotationAdopted) // before the restoration, which ends it
	if note != "" {
		if err := json.Unmarshal([]byte(note), &was); err != nil {
			return fmt.Errorf("give back: read the annotation %s: %w", AnnotationAdopted, err)
		}
	}
	how := "as it was applied last"
	if forgets {
		how = "as it is"
	}
	var found []metav1.ManagedFieldsEntry // the owners of the restored fields; nil if nothing was restored
	if note != "" && !forgets {
		got, owners, err := r.restore(ctx, t, live)
		switch {
		case apierrors.IsNotFound(err), err == nil && got.GetUID() != uid:
			return nil
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("give back: %w", err)
		case err != nil:
			logstore.Warnf(r.req.Logger, "WARNING: %s cannot be given back as it was found, and stays as it was applied last: %v", title(t.id), err)
		case owners != nil:
			live, found, how = got, owners, "as it was found"
			if isSecret(live) {
				how += ", with the values that were applied last"
			}
		}
	}
	for attempt := 1; ; attempt++ {
		m := r.marksOn(live)
		if m.labels == nil { // those who share the object give it back
			was = origin{}
		}
		entries, _, _ := renamed(formerManager, FieldManager)(slices.DeleteFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			return slices.Contains(m.managers, e.Manager) && e.Subresource == ""
		}))
		entries = withOwners(entries, found)
		if len(entries) == 0 {
			entries = []metav1.ManagedFieldsEntry{{}}
		}
		_, err := jsonPatch(ctx, t, r.req.Timeout, live,
			patchStep{"add", "/metadata/labels", restored(live.GetLabels(), m.labels, was.Labels)},
			patchStep{"add", "/metadata/annotations", restored(live.GetAnnotations(), m.annotations, was.Annotations)},
			patchStep{"replace", "/metadata/managedFields", entries})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil:
			verb := "gave back"
			if note == "" || forgets {
				verb = "leaves and forgets"
			}
			logstore.Infof(r.req.Logger, "       → %s %s, %s", verb, shown(t.id), how)
			return nil
		case !apierrors.IsConflict(err) || attempt == adoptAttempts:
			return fmt.Errorf("give back: %w", err)
		}
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
			return err
		})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("give back: %w", err)
		case live.GetUID() != uid, found == nil && label(live, LabelManagedBy) != ManagedByHone:
			return nil
		}
	}
}

// marks are the names of a project's marks on an object, and its field managers.
type marks struct{ labels, annotations, managers []string }

// marksOn returns the marks that go from an object that is given back. On an object that others share, only the mark of this project goes.
func (r *deleteRun) marksOn(live *unstructured.Unstructured) marks {
	id := r.a.sharer(r.req.Project, live)
	if id == "" {
		return marks{markLabels, markAnnotations, []string{FieldManager}}
	}
	own := marks{annotations: []string{sharerPrefix + id}, managers: []string{sharingManager(id)}}
	if len(r.a.otherSharers(r.req.Project, live)) > 0 {
		return own
	}
	return marks{markLabels, slices.Concat(markAnnotations, own.annotations), append(own.managers, FieldManager)}
}

// restored returns m with hone's marks replaced by the original values.
func restored(m map[string]string, marks []string, was map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if !slices.Contains(marks, k) {
			out[k] = v
		}
	}
	for k, v := range was {
		out[k] = v
	}
	return out
}

// patchStep is one operation of a JSON patch (RFC 6902).
type patchStep struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// jsonPatch changes a live object. If others have changed it since it was read, the error is a conflict.
func jsonPatch(ctx context.Context, t target, limit time.Duration, live *unstructured.Unstructured, steps ...patchStep) (got *unstructured.Unstructured, err error) {
	body, err := json.Marshal(append(steps, patchStep{"replace", "/metadata/resourceVersion", live.GetResourceVersion()}))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	err = bounded(ctx, limit, func(ctx context.Context) (err error) {
		got, err = t.ri.Patch(ctx, t.id.Name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: FieldManager})
		return err
	})
	if err != nil {
		return nil, err
	}
	return got, nil
}
