package projection

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindApply = "KubernetesApply"

func kubernetesApply() Kind {
	type object = *v1alpha1.KubernetesApply
	return Kind{
		Name: kindApply, ShortNames: []string{"ka"},
		Doc:    "KubernetesApply is what a resource applies to the cluster, and the result. The data of Secrets is not shown.",
		Tables: tables(state.Resources, state.Updates, state.Objects),
		Items: func(v store.View) iter.Seq[Item] {
			return inOrder(slices.Concat(perResource(v, kindApply, withObjects, onKubernetes, func(r *row) digest { return groupMade(r.objects) }, makeApply),
				kept(v, kindApply, func() *v1alpha1.KubernetesApply { return &v1alpha1.KubernetesApply{} },
					func(o *v1alpha1.KubernetesApply) any { return &o.Spec },
					func(o *v1alpha1.KubernetesApply) { o.Spec.YAML = redactYAML(o.Spec.YAML) })))
		},
		New: func() Object { return &v1alpha1.KubernetesApply{} },
		Columns: []Column{
			column("Applied", "When it was last applied.", func(o object) any { return o.Status.LastApplyTime.Time }),
			column("Error", "Why the last attempt failed.", func(o object) any { return o.Status.Error }),
			wide(column("Images", "The images that go into the objects.", func(o object) any { return strings.Join(o.Spec.ImageMaps, ",") })),
		},
		Write: readOnly("kubernetesapplies", "objects are declared in the Tiltfile; to apply them again: hone trigger"),
	}
}

func onKubernetes(r *row) bool { return r.Value.Manifest.IsK8s() }

func makeApply(s *source, r *row) *v1alpha1.KubernetesApply {
	m, u := &r.Value.Manifest, &r.update.Value
	o := &v1alpha1.KubernetesApply{ObjectMeta: metaOfResource(r.Entry)}
	o.Spec = v1alpha1.KubernetesApplySpec{YAML: yamlOf(m.K8s.Objects, redact.With(scrubberFor(s.tiltfile.Value.Result.Secrets))), ImageMaps: imageNames(m), DiscoveryStrategy: "default",
		PortForwardTemplateSpec: forwardTemplate(m), Cluster: clusterObject(s.View, m.Cluster()), DisableSource: disableOfResource(r.ID),
		Timeout: metav1.Duration{Duration: s.tiltfile.Value.Result.Update.UpsertTimeout}}
	if m.K8s.SelectorsOnly {
		o.Spec.DiscoveryStrategy = "selectors-only"
	}
	if d := m.K8s.CustomDeploy; d != nil {
		o.Spec.ApplyCmd, o.Spec.DeleteCmd = applyCmd(d.Apply), applyCmd(d.Delete)
		o.Spec.RestartOn = &v1alpha1.RestartOnSpec{FileWatches: []string{targetName(m.DeployID())}}
	}
	o.Status = v1alpha1.KubernetesApplyStatus{ResultYAML: resultYAML(u.Applied), LastApplyTime: micro(u.AppliedAt), DisableStatus: disableStatusOf(r.Entry)}
	if last, ok := u.Last(); ok {
		o.Status.Error = last.Err
	}
	for _, b := range u.Builds {
		if !u.AppliedAt.IsZero() && b.FinishedAt.Equal(u.AppliedAt) {
			o.Status.LastApplyStartTime = micro(b.StartedAt)
		}
	}
	if c, ok := jobComplete(s.View, m, u); ok {
		o.Status.Conditions = []metav1.Condition{c}
	}
	return o
}

// jobComplete returns the condition of a resource whose job is complete.
func jobComplete(v store.View, m *model.Manifest, u *state.Update) (metav1.Condition, bool) {
	if m.K8s.PodReadiness != model.PodSucceeded {
		return metav1.Condition{}, false
	}
	for _, a := range u.Applied {
		e := state.Objects.In(v).Ref(a.UID)
		if e != nil && a.Kind == "Job" && e.Value.Health == model.HealthCurrent {
			return metav1.Condition{Type: "JobComplete", Status: metav1.ConditionTrue, Reason: "Complete", LastTransitionTime: metav1.NewTime(e.Updated)}, true
		}
	}
	return metav1.Condition{}, false
}

func applyCmd(c model.Cmd) *v1alpha1.KubernetesApplyCmd {
	if c.Empty() {
		return nil
	}
	return &v1alpha1.KubernetesApplyCmd{Args: slices.Clone(c.Argv), Dir: c.Dir, Env: slices.Clone(c.Env)}
}

func imageNames(m *model.Manifest) []string {
	var out []string
	for _, im := range m.Images {
		out = append(out, safeName(im.Ref))
	}
	return out
}

// yamlOf returns the objects of a resource as YAML, without the data of Secrets. It hides their values in other objects before it writes
// the YAML: in finished YAML, a placeholder would read as a list.
func yamlOf(objects []model.K8sObject, secrets *redact.Redactor) string {
	docs := make([]string, 0, len(objects))
	for _, o := range objects {
		text := o.JSON
		if isSecret(o.Kind) {
			text = redactJSON(text)
		}
		doc, err := yamltext.FromJSON(secrets.JSON([]byte(text)))
		if err != nil {
			doc = []byte(fmt.Sprintf("# %s cannot be shown: %v\n", o.ID(), err))
		}
		docs = append(docs, string(doc))
	}
	return strings.Join(docs, "---\n")
}

func isSecret(kind string) bool { return kind == "Secret" }

// redactJSON replaces the values in a Secret. A text that is not a Secret is not shown.
func redactJSON(text string) string {
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return `"` + redacted + `"`
	}
	redactObject(o)
	out, err := json.Marshal(o)
	if err != nil {
		return `"` + redacted + `"`
	}
	return string(out)
}

// redactObject replaces the values in a Secret, and its copies in annotations.
func redactObject(o map[string]any) {
	model.EachSecretValue(o, func(_ []string, values map[string]any, name string) { values[name] = redacted })
}

// redactYAML replaces the values in the Secrets among several documents. Text that cannot be read is not shown.
func redactYAML(text string) string {
	var docs []string
	for _, doc := range splitYAML(text) {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			docs = append(docs, redacted+"\n")
			continue
		}
		if kind, _ := o["kind"].(string); isSecret(kind) {
			redactObject(o)
			out, err := yamltext.Marshal(o)
			if err != nil {
				out = []byte(redacted + "\n")
			}
			doc = string(out)
		}
		docs = append(docs, doc)
	}
	return strings.Join(docs, "---\n")
}

// splitYAML cuts a text at the lines that separate documents.
func splitYAML(text string) []string {
	docs := []string{""}
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\r\n") == "---" {
			docs = append(docs, "")
			continue
		}
		docs[len(docs)-1] += line
	}
	return slices.DeleteFunc(docs, func(d string) bool { return strings.TrimSpace(d) == "" })
}

// resultYAML identifies the objects that were applied.
func resultYAML(applied []model.AppliedObject) string {
	docs := make([]string, 0, len(applied))
	for _, a := range applied {
		o := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: a.APIVersion, Kind: a.Kind}}
		doc := map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": identity(a)}
		out, err := yamltext.Marshal(doc)
		if err != nil {
			continue // never: it is a map of strings
		}
		docs = append(docs, string(out))
	}
	return strings.Join(docs, "---\n")
}

func identity(a model.AppliedObject) map[string]any {
	m := map[string]any{"name": a.Name, "uid": a.UID}
	if a.Namespace != "" {
		m["namespace"] = a.Namespace
	}
	return m
}

// kept lists the objects of a kind that the Tiltfile declares and that hone does not act on.
func kept[O Object](v store.View, kind string, empty func() O, spec func(O) any, hide func(O)) []Item {
	s := sourceOf(v)
	return slices.Collect(declared(s, kind, s.tiltfile.Value.Result.Kept, func(k *model.KeptObject) bool { return k.Kind == kind }, func(k *model.KeptObject) (string, model.Meta) { return k.Name, k.Meta }, func(k *model.KeptObject) O {
		o := empty()
		_ = json.Unmarshal([]byte(k.Spec), spec(o)) // fields that do not match are not shown
		if hide != nil {
			hide(o)
		}
		return o
	}))
}

const kindDiscovery = "KubernetesDiscovery"

func kubernetesDiscovery() Kind {
	type object = *v1alpha1.KubernetesDiscovery
	return Kind{
		Name: kindDiscovery, ShortNames: []string{"kd"},
		Doc:    "KubernetesDiscovery is the pods of a resource, with their containers.",
		Tables: tables(state.Resources, state.Updates, state.Pods),
		Items: func(v store.View) iter.Seq[Item] {
			return inOrder(slices.Concat(perResource(v, kindDiscovery, withPods, onKubernetes, func(r *row) digest { return groupMade(r.pods) }, makeDiscovery),
				kept(v, kindDiscovery, func() *v1alpha1.KubernetesDiscovery { return &v1alpha1.KubernetesDiscovery{} },
					func(o *v1alpha1.KubernetesDiscovery) any { return &o.Spec }, nil)))
		},
		New: func() Object { return &v1alpha1.KubernetesDiscovery{} },
		Columns: []Column{
			column("Pods", "How many pods there are.", func(o object) any { return len(o.Status.Pods) }),
			column("Newest", "The newest pod.", func(o object) any {
				if len(o.Status.Pods) == 0 {
					return ""
				}
				return o.Status.Pods[0].Name
			}),
			column("Status", "The status of the newest pod.", func(o object) any {
				if len(o.Status.Pods) == 0 {
					return ""
				}
				return o.Status.Pods[0].Status
			}),
		},
		Write: readOnly("kubernetesdiscoveries", "the Tiltfile declares how pods are found: k8s_resource(extra_pod_selectors=…)"),
	}
}

func makeDiscovery(s *source, r *row) *v1alpha1.KubernetesDiscovery {
	m := &r.Value.Manifest
	o := &v1alpha1.KubernetesDiscovery{ObjectMeta: metaOfResource(r.Entry)}
	o.Spec.PortForwardTemplateSpec, o.Spec.Cluster = forwardTemplate(m), clusterObject(s.View, m.Cluster())
	for _, a := range r.update.Value.Applied {
		if buildcontrol.HasStatus(a.ObjectID) {
			o.Spec.Watches = append(o.Spec.Watches, v1alpha1.KubernetesWatchRef{UID: a.UID, Namespace: a.Namespace, Name: a.Name})
		}
	}
	for _, sel := range m.K8s.ExtraPodSelectors {
		o.Spec.ExtraSelectors = append(o.Spec.ExtraSelectors, metav1.LabelSelector{MatchLabels: sel})
	}
	o.Status.MonitorStartTime = micro(r.update.Value.AppliedAt)
	for _, p := range r.pods.Values() {
		o.Status.Pods = append(o.Status.Pods, podOf(p))
	}
	return o
}

func podOf(p state.Pod) v1alpha1.Pod {
	out := v1alpha1.Pod{UID: p.UID, Name: p.Name, Namespace: p.Namespace, CreatedAt: metav1.NewTime(p.CreatedAt), Phase: p.Phase,
		Deleting: p.Deleting, Current: p.Current, PodTemplateSpecHash: p.TemplateHash, Status: p.Status}
	if p.Message != "" {
		out.Errors = []string{p.Message}
	}
	if p.Controller != "" {
		out.Owner = &v1alpha1.PodOwner{Name: p.Controller, CreationTimestamp: metav1.NewTime(p.ControllerCreatedAt)}
	}
	for _, c := range p.InitContainers {
		out.InitContainers = append(out.InitContainers, containerOf(c))
	}
	for _, c := range p.Containers {
		out.Containers = append(out.Containers, containerOf(c))
	}
	return out
}

func containerOf(c model.Container) v1alpha1.Container {
	out := v1alpha1.Container{Name: c.Name, ID: c.ID, Ready: c.Ready, Image: c.Image, Restarts: int32(c.Restarts)}
	for _, port := range c.Ports {
		out.Ports = append(out.Ports, int32(port))
	}
	switch c.State {
	case model.ContainerWaiting:
		out.State.Waiting = &v1alpha1.ContainerStateWaiting{Reason: c.Reason}
	case model.ContainerRunning:
		out.State.Running = &v1alpha1.ContainerStateRunning{StartedAt: metav1.NewTime(c.StartedAt)}
	case model.ContainerTerminated:
		out.State.Terminated = &v1alpha1.ContainerStateTerminated{StartedAt: metav1.NewTime(c.StartedAt), FinishedAt: metav1.NewTime(c.FinishedAt),
			Reason: c.Reason, ExitCode: int32(c.ExitCode)}
	}
	return out
}
