package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/declared"
	"github.com/hone-dev/hone/pkg/api"
)

// goneYAML declares an object of each kind that is deleted in the test, with names that no other project has.
const goneYAML = `
-- Tiltfile --
k8s_yaml(['all.yaml', 'gadget.yaml', 'job.yaml'])
k8s_resource('nightly', objects=['token', 'robot', 'reader:role', 'reader:rolebinding', 'quota', 'budget', 'web', 'lease', '$NS-sees', '$NS-low', 'gadgets.$NS.example.com'])
k8s_resource(new_name='gadget', objects=['one'])
-- all.yaml --
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {word: swordfish}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: robot}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {count/services: '50'}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget}
spec: {minAvailable: 0, selector: {matchLabels: {app: none}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lease}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: '0 0 1 1 *'
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS-sees}
rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: $NS-low}
value: 1
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
-- gadget.yaml --
apiVersion: $NS.example.com/v1
kind: Gadget
metadata: {name: one}
spec: {size: 3}
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: busybox, command: [sleep, '100000']}]
`

// TestDeletedObjects deletes an object of each kind while a session runs: each is made again, also the definition of a kind with the objects
// of that kind. A Job that was deleted before its end is not run again, and its resource says so. What is deleted again and again stays
// deleted, and its resource says so, until the user asks for it.
func TestDeletedObjects(t *testing.T) {
	t.Parallel()
	p := newProject(t, goneYAML)
	t.Cleanup(func() {
		if out, code := p.run("down", "--namespace", p.namespace, "--delete-namespaces"); code != 0 { // with what is in no namespace
			t.Errorf("down: %d\n%s", code, out)
		}
	})
	s := p.up()
	s.ready("nightly", "gadget")
	s.becomes("migrate", "running", func(r api.Resource) bool { return r.RuntimeStatus == "pending" && len(r.Pods) > 0 })
	all := append(p.declares("all.yaml"), p.declares("gadget.yaml")...)
	before := p.living(all)
	if len(before) != len(all) {
		t.Fatalf("%d of %d objects are there: %v", len(before), len(all), before)
	}
	back := func(what string, objects []*unstructured.Unstructured) {
		t.Helper()
		s.await(what, func() error {
			var missing []string
			now := p.living(objects)
			for _, u := range objects {
				if id := u.GetKind() + "/" + u.GetName(); now[id] == "" || now[id] == before[id] {
					missing = append(missing, id)
				}
			}
			if len(missing) > 0 {
				return errors.New(strings.Join(missing, ", "))
			}
			return nil
		})
		s.ready("nightly", "gadget")
		s.settled()
		before = p.living(all)
	}
	for _, u := range all {
		if u.GetKind() != "CustomResourceDefinition" {
			p.deletes(u)
		}
	}
	back("everything to be made again", append(p.declares("gadget.yaml"), p.declares("all.yaml")[:11]...))
	p.deletes(p.declares("all.yaml")[11])
	back("the kind and its object to be made again", []*unstructured.Unstructured{p.declares("all.yaml")[11], p.declares("gadget.yaml")[0]})

	p.deletes(p.declares("job.yaml")[0])
	s.becomes("migrate", "failed", func(r api.Resource) bool {
		return r.RuntimeStatus == "error" && strings.Contains(r.Error, "job/"+p.namespace+"/migrate was deleted before its end; a trigger runs it again")
	})

	secret := all[0]
	s.await("the Secret to stay deleted", func() error {
		r, err := s.resource("nightly")
		if err != nil {
			return err
		}
		if r.RuntimeStatus == "error" {
			return nil
		}
		if len(p.living(all[:1])) > 0 {
			p.deletes(secret)
		}
		return fmt.Errorf("it is %+v", r)
	})
	if r, _ := s.resource("nightly"); !strings.Contains(r.Error, "secret/"+p.namespace+"/token was deleted (again and again); a trigger deploys the resource again") {
		t.Errorf("it says %q", r.Error)
	}
	s.triggers("nightly")
	back("the Secret to be made again", all[:1])
}

// declares returns the objects of a file.
func (p *project) declares(name string) (out []*unstructured.Unstructured) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

// objects returns a client for the objects of a kind.
func (p *project) objects(u *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvr, ns, err := declared.Checker{Cluster: p.cluster, Namespace: p.namespace}.Place(u)
	return p.dyn.Resource(gvr).Namespace(ns), err
}

// living returns the UIDs of the objects that are there and are not being deleted, by kind and name.
func (p *project) living(objects []*unstructured.Unstructured) map[string]types.UID {
	out := map[string]types.UID{}
	for _, u := range objects {
		client, err := p.objects(u)
		if err != nil {
			continue
		}
		if live, err := client.Get(p.t.Context(), u.GetName(), metav1.GetOptions{}); err == nil && live.GetDeletionTimestamp() == nil {
			out[u.GetKind()+"/"+u.GetName()] = live.GetUID()
		}
	}
	return out
}

// deletes deletes an object as the user does.
func (p *project) deletes(u *unstructured.Unstructured) {
	p.t.Helper()
	client, err := p.objects(u)
	background := metav1.DeletePropagationBackground
	if err == nil {
		err = client.Delete(p.t.Context(), u.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	}
	if err != nil {
		p.t.Fatalf("delete %s: %v", u.GetName(), err)
	}
}
