package deploy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
)

// TestDeleteCost counts the requests of a deletion of 20 objects, by verb.
func TestDeleteCost(t *testing.T) {
	const (
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%d}, spec: {replicas: 0, selector: {matchLabels: {a: d%[1]d}}, template: {metadata: {labels: {a: d%[1]d}}, spec: {containers: [{name: c, image: i}]}}}}"
		configMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}, data: {key: value}}"
	)
	for _, tc := range []struct {
		name, object string
		// gone are the first objects that others have deleted.
		gone int
		req  DeleteRequest
		want map[string]int
	}{
		{"workloads, with their pods", deployment, 0, DeleteRequest{Wait: true, Pods: true}, map[string]int{"delete": 20, "list": 2}},
		{"workloads, looked at", deployment, 0, DeleteRequest{Look: true, Pods: true}, map[string]int{"delete": 20, "list": 2}},
		{"others", configMap, 0, DeleteRequest{Wait: true}, map[string]int{"delete": 20, "list": 1}},
		{"some are gone", configMap, 5, DeleteRequest{Wait: true}, map[string]int{"delete": 15, "list": 2}},
		{"all are gone", configMap, 20, DeleteRequest{Wait: true}, map[string]int{"list": 2}},
		{"of any project", configMap, 0, DeleteRequest{Wait: true, Project: "-"}, map[string]int{"get": 20, "delete": 20}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fakeCluster(t)
			var all []string
			for i := range 20 {
				all = append(all, fmt.Sprintf(tc.object, i))
			}
			objects := c.inject(t, strings.Join(all, "\n---\n"))
			c.mustApply(t, objects)
			server := c.dyn.(*deploytest.Server)
			for _, u := range objects[:tc.gone] {
				server.Remove("configmaps", u.GetName())
			}
			verbs := []string{"get", "list", "patch", "create", "delete"}
			before := map[string]int{}
			for _, v := range verbs {
				before[v] = server.Count(v)
			}
			if tc.req.Project == "" {
				tc.req.Project = label(objects[0], LabelProject)
			} else {
				tc.req.Project = ""
			}
			tc.req.Objects = refsOf(objects)
			if err := NewApplier(c.dyn, c.mapper, WithMetadata(c.names), WithDeleter(server.Delete)).Delete(t.Context(), tc.req); err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, v := range verbs {
				if n := server.Count(v) - before[v]; n > 0 {
					got[v] = n
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAwaitCost lets finalizers hold 20 objects for a minute. Their reads share lists: one for each pause of a poll, not one for each object.
func TestAwaitCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakeCluster(t)
		server := c.dyn.(*deploytest.Server)
		var all []string
		for i := range 20 {
			all = append(all, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}, data: {key: value}}", i))
		}
		objects := c.inject(t, strings.Join(all, "\n---\n"))
		c.mustApply(t, objects)
		for _, u := range objects {
			server.SetFinalizers("configmaps", u.GetName(), "example.com/hold")
		}
		time.AfterFunc(time.Minute, func() {
			for _, u := range objects {
				server.SetFinalizers("configmaps", u.GetName())
			}
		})
		gets, lists := server.Count("get"), server.Count("list")
		log := &recorder{}
		err := NewApplier(c.dyn, c.mapper, WithMetadata(c.names), WithDeleter(server.Delete)).Delete(t.Context(),
			DeleteRequest{Objects: refsOf(objects), Wait: true, Project: label(objects[0], LabelProject), Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		if n := server.Count("get") - gets; n > 0 {
			t.Errorf("%d objects were read one by one", n)
		}
		if n := server.Count("list") - lists; n > 300 {
			t.Errorf("%d lists", n)
		}
		for _, want := range []string{"(finalizers [example.com/hold])", "and 16 more"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, log)
			}
		}
	})
}
