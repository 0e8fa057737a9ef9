package deploy

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRealAccepted accepts changes of others: they no longer count as drift, and no update undoes them, until the declared value of
// the field changes, or the object is made again. Other fields are restored as before.
func TestRealAccepted(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: one, b: two}\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter22, user: me}\n"
	web := deploymentYAML("web", "web", "80")
	const image = "spec.template.spec.containers[name=main].image"
	for _, tc := range []struct {
		name, declared string
		hand           []byHand
		accept         []string
		// then happens after the acceptance; declared becomes next where it is set.
		then []byHand
		next string
		// drift is the drift that remains, and applied the effect of an apply after the acceptance.
		drift, applied string
		// live is the first of the accepted fields in the end.
		live string
	}{
		{name: "a field", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno"}}`}}, accept: []string{"data.a"},
			drift: "unchanged configmap/conf", applied: "unchanged configmap/conf", live: "uno"},
		{name: "another field is not accepted", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno","b":"due"}}`}}, accept: []string{"data.a"},
			drift: "update configmap/conf\n  drift data.b: due > two (kubectl-edit)", applied: "update configmap/conf\n  drift data.b: due > two (kubectl-edit)", live: "uno"},
		{name: "they go on to change it", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno"}}`}}, accept: []string{"data.a"},
			then: []byHand{{"helm", "conf", `{"data":{"a":"eins"}}`}}, drift: "unchanged configmap/conf", applied: "unchanged configmap/conf", live: "eins"},
		{name: "a field that they have removed", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":null}}`}}, accept: []string{"data.a"},
			drift: "unchanged configmap/conf", applied: "unchanged configmap/conf", live: "<nil>"},
		{name: "the declaration of another field changes", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno"}}`}}, accept: []string{"data.a"},
			next: strings.Replace(config, "two", "second", 1), drift: "unchanged configmap/conf", applied: "update configmap/conf\n  change data.b: two > second", live: "uno"},
		{name: "the declaration of the field changes", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno"}}`}}, accept: []string{"data.a"},
			next: strings.Replace(config, "one", "first", 1), drift: "unchanged configmap/conf", applied: "update configmap/conf\n  conflict data.a: uno > first (kubectl-edit), applied one", live: "first"},
		{name: "made again", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno"}}`}}, accept: []string{"data.a"},
			then: []byHand{{"kubectl", "-conf", ""}}, drift: "create configmap/conf: deleted by others since it was applied", applied: "create configmap/conf", live: "one"},
		{name: "a field in a list", declared: web, hand: []byHand{{"kubectl-set", "web", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx"}]}}}}`}}, accept: []string{image},
			drift: "unchanged deployment/web", applied: "unchanged deployment/web", live: "nginx"},
		{name: "a field of a Secret", declared: secret, hand: []byHand{{"kubectl-edit", "token", `{"stringData":{"user":"you"}}`}}, accept: []string{"data.user"},
			drift: "unchanged secret/token", applied: "unchanged secret/token", live: "eW91"},
		{name: "the declaration of a field of a Secret changes", declared: secret, hand: []byHand{{"kubectl-edit", "token", `{"stringData":{"user":"you"}}`}}, accept: []string{"data.user"},
			next: strings.Replace(secret, "user: me", "user: her", 1), drift: "unchanged secret/token", applied: "update secret/token\n  conflict data.user: masked (kubectl-edit)", live: "aGVy"},
		{name: "what is not declared", declared: config, hand: []byHand{{"kubectl-edit", "conf", `{"data":{"a":"uno","c":"tre"}}`}}, accept: []string{"data.c", "metadata.nothing"},
			drift: "update configmap/conf\n  drift data.a: uno > one (kubectl-edit)", applied: "update configmap/conf\n  drift data.a: uno > one (kubectl-edit)", live: "tre"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			memory := openLedger(t, t.TempDir())
			done := c.applyRemembered(t, memory, c.inject(t, tc.declared))
			for _, h := range tc.hand {
				c.changedBy(t, h)
			}
			if _, err := memory.Accept(done[0].ObjectID, done[0].UID, tc.accept); err != nil {
				t.Fatal(err)
			}
			for _, h := range tc.then {
				c.changedBy(t, h)
			}
			preview := func(objects []*unstructured.Unstructured, drift bool) string {
				t.Helper()
				steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Drift: drift, Prior: memory.Remembered,
					Accepted: memory.Accepted, Declared: []Declared{{Resource: "web", Objects: objects}}, Records: map[model.ManifestName][]ledger.Record{"web": ledger.Of(done)}})
				if err != nil {
					t.Fatal(err)
				}
				return stepsText(steps)
			}
			if got := preview([]*unstructured.Unstructured{memory.Remembered(done[0].ObjectID)}, true); got != tc.drift {
				t.Errorf("drift:\n%s\nwant:\n%s", got, tc.drift)
			}
			next := c.inject(t, tc.declared)
			if tc.next != "" {
				next = c.inject(t, tc.next)
			}
			if got := preview(next, false); got != tc.applied {
				t.Errorf("preview:\n%s\nwant:\n%s", got, tc.applied)
			}
			done = c.applyRemembered(t, memory, next)
			if got := preview(next, false); !strings.HasPrefix(got, "unchanged ") {
				t.Errorf("after the update:\n%s", got)
			}
			is, _ := find(c.get(t, next[0]).Object, tc.accept[0])
			if got := fmt.Sprint(is.value); got != tc.live {
				t.Errorf("after the update, %s is %s, want %s", tc.accept[0], got, tc.live)
			}
		})
	}
}
