package model

import "testing"

func TestRefusedPods(t *testing.T) {
	for _, tc := range []struct{ from, message, want string }{
		{"a condition", `pods "web-1" is forbidden: exceeded quota: small, requested: pods=1`, "exceeded quota: small, requested: pods=1"},
		{"a stateful set", `create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden: exceeded quota: small`, "exceeded quota: small"},
		{"the claim of a stateful set", `create Claim data-web-0 Pod web-0 in StatefulSet web failed error: persistentvolumeclaims "data-web-0" is forbidden: exceeded quota: small`,
			`persistentvolumeclaims "data-web-0" is forbidden: exceeded quota: small`},
		{"a daemon set or a job", `Error creating: pods "web-x2v1" is forbidden: exceeded quota: small`, "exceeded quota: small"},
		{"several events as one", `(combined from similar events): Error creating: pods "web-x2v1" is forbidden: maximum memory usage per Container is 1Gi`, "maximum memory usage per Container is 1Gi"},
		{"a webhook", `Error creating: admission webhook "x" denied the request: create failed error: no`, `admission webhook "x" denied the request: create failed error: no`},
		{"another service account", `Error creating: pods "web-" is forbidden: error looking up service account a/web: serviceaccount "web" not found`,
			`error looking up service account a/web: serviceaccount "web" not found`},
	} {
		if got := RefusedPods(tc.message); got != "its pods cannot be created: "+tc.want {
			t.Errorf("%s: %s", tc.from, got)
		}
	}
	if got := RefusedPods(`Error creating: pods "web-" is forbidden: error looking up service account a/default: serviceaccount "default" not found`); got != "" {
		t.Errorf("it ends by itself, and is told: %s", got)
	}
}
