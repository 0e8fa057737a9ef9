package deploy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// always applies every object again.
func always(*unstructured.Unstructured) string { return "nothing in its pods has changed" }

// forceRestarts applies an unchanged workload by force: the object stays, its rollout starts again, and the next apply leaves it alone.
// One that has changed has a rollout anyway.
func forceRestarts(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "80"))
	c.mustApply(t, objects)
	before := c.get(t, objects[1])
	restartedAt := func() string {
		at, _, _ := unstructured.NestedString(c.get(t, objects[1]).Object, "spec", "template", "metadata", "annotations", annotationRestartedAt)
		return at
	}
	force := func(objects []*unstructured.Unstructured) string {
		t.Helper()
		log := &recorder{}
		if _, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Again: always, Logger: log}); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	const says = "Restarting the rollout of deployment/web: nothing in its pods has changed"
	if log := force(objects); !strings.Contains(log, says) || strings.Contains(log, "rollout of configmap") {
		t.Errorf("log %q", log)
	}
	first := restartedAt()
	if after := c.get(t, objects[1]); first == "" || after.GetUID() != before.GetUID() || after.GetGeneration() > before.GetGeneration()+1 {
		t.Errorf("restarted at %q, generation %d, then %d", first, before.GetGeneration(), after.GetGeneration())
	}
	if _, log := c.mustApply(t, objects); !strings.Contains(log, "web:deployment (unchanged)") || restartedAt() != first {
		t.Errorf("the next apply: %q", log)
	}
	if log := force(c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "81"))); strings.Contains(log, says) || restartedAt() != first {
		t.Errorf("a change: %q", log)
	}
}

// overlaidRestarts applies unchanged workloads, of which one has a container that must not stay.
func overlaidRestarts(t *testing.T, c cluster) {
	objects := c.inject(t, deploymentYAML("web", "web", "80")+"---"+deploymentYAML("other", "other", "80"))
	c.mustApply(t, objects)
	main := model.ContainerRef{Namespace: c.namespace, Pod: "web-1", Template: text(field(podTemplate(objects[0]), "metadata", "labels"), LabelTemplateHash)}
	log := &recorder{}
	_, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Logger: log,
		Again: func(u *unstructured.Unstructured) string {
			if Runs(u, main) {
				return "its files are old"
			}
			return ""
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Restarting the rollout of deployment/web: its files are old", "web:deployment\n", "other:deployment (unchanged)"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	elsewhere := main
	elsewhere.Namespace = "elsewhere"
	if Runs(objects[0], elsewhere) || Runs(objects[0], model.ContainerRef{Namespace: c.namespace}) {
		t.Error("other containers belong to it")
	}
}

// previewOfForce: the plan says what a deploy without a change does.
func previewOfForce(t *testing.T, c cluster) {
	const job = "\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: once, image: busybox}]}}}}\n"
	paused := strings.Replace(deploymentYAML("still", "still", "80"), "spec:\n", "spec:\n  paused: true\n", 1)
	objects := c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "80")+"---"+paused+job)
	c.mustApply(t, objects)
	steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace,
		Declared: []Declared{{Resource: "web", Objects: objects, Again: always}}})
	if err != nil {
		t.Fatal(err)
	}
	got := stepsText(steps)
	for _, want := range []string{"unchanged configmap/conf", "update deployment/web: its rollout is restarted: nothing in its pods has changed",
		"unchanged deployment/still: its rollout is paused", "replace job/once: only a new one runs again"} {
		if !strings.Contains(got, want) {
			t.Errorf("the plan lacks %q:\n%s", want, got)
		}
	}
}
