package k8s

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestRefusedPods: a workload whose pods are refused is failing, and says why.
func TestRefusedPods(t *testing.T) {
	for _, tc := range []struct{ name, conditions, want string }{
		{"quota", `[{type: Progressing, status: "True", reason: ReplicaSetUpdated}, {type: ReplicaFailure, status: "True", reason: FailedCreate, message: 'pods "web-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0'}]`,
			"Failed: its pods cannot be created: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0"},
		{"webhook", `[{type: ReplicaFailure, status: "True", message: 'admission webhook "x" denied the request: no'}]`, `Failed: its pods cannot be created: admission webhook "x" denied the request: no`},
		{"a new namespace, whose service account comes at once", `[{type: ReplicaFailure, status: "True", message: 'pods "web-1" is forbidden: error looking up service account a/default: serviceaccount "default" not found'}]`,
			"InProgress: Replicas: 0/1"},
		{"over", `[{type: ReplicaFailure, status: "False", message: x}]`, "InProgress: Replicas: 0/1"},
	} {
		body, err := yaml.YAMLToJSON([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, conditions: ` + tc.conditions + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(body); err != nil {
			t.Fatal(err)
		}
		if s := ObjectEventFrom(u).Status; s.Health+": "+s.Message != tc.want {
			t.Errorf("%s: %s: %s, want %s", tc.name, s.Health, s.Message, tc.want)
		}
	}
}

func TestJobHealth(t *testing.T) {
	for _, tc := range []struct{ name, job, want string }{
		{"made", `{}`, "InProgress: active 0, succeeded 0, failed 0"},
		{"started", `{status: {startTime: "2026-01-01T00:00:00Z", active: 1}}`, "InProgress: active 1, succeeded 0, failed 0"},
		{"tries again", `{status: {startTime: "2026-01-01T00:00:00Z", active: 1, failed: 1}}`, "InProgress: active 1, succeeded 0, failed 1"},
		{"indexed", `{spec: {completions: 3, completionMode: Indexed}, status: {active: 2, succeeded: 1}}`, "InProgress: active 2, succeeded 1 of 3, failed 0"},
		{"suspended", `{spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True"}]}}`, "InProgress: is suspended"},
		{"enough have succeeded", `{status: {conditions: [{type: SuccessCriteriaMet, status: "True"}], succeeded: 1, active: 1}}`, "InProgress: active 1, succeeded 1, failed 0"},
		{"about to fail", `{status: {conditions: [{type: FailureTarget, status: "True", reason: BackoffLimitExceeded}], failed: 1}}`, "InProgress: active 0, succeeded 0, failed 1"},
		{"complete", `{status: {conditions: [{type: Complete, status: "True", reason: CompletionsReached}], succeeded: 1}}`, "Current: CompletionsReached"},
		{"complete, and being removed", `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {conditions: [{type: Complete, status: "True"}]}}`, "Current: "},
		{"not complete any more", `{status: {conditions: [{type: Complete, status: "False"}], active: 1}}`, "InProgress: active 1, succeeded 0, failed 0"},
		{"failed", `{status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}], failed: 1}}`,
			"Failed: BackoffLimitExceeded: Job has reached the specified backoff limit"},
		{"deleted while it runs", `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {active: 1}}`, "Terminating: is being deleted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body, err := yaml.YAMLToJSON([]byte(strings.Replace(tc.job, "{", "{apiVersion: batch/v1, kind: Job, ", 1)))
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(body); err != nil {
				t.Fatal(err)
			}
			if s := ObjectEventFrom(u).Status; s.Health+": "+s.Message != tc.want {
				t.Errorf("%s: %s, want %s", s.Health, s.Message, tc.want)
			}
		})
	}
}
