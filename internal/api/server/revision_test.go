package server

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRevisions: the view and the page list the revisions, newest first, and each can be compared with the one before; secrets of the
// session are hidden in both.
func TestRevisions(t *testing.T) {
	loaded := statetest.Loaded(statetest.Local("a"))
	loaded.Result.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: "dev-europe"}}
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "pw", Value: "swordfish"}}
	known := state.RevisionsKnown{Revisions: []api.Revision{
		{Number: 9, RevisionOrigin: api.RevisionOrigin{Command: "ci", By: "kim@swordfish"}, Phase: api.RevisionFailed, Failures: "web"},
		{Number: 10, Phase: api.RevisionSucceeded},
		{Number: 2, Cluster: "dev-europe", Phase: api.RevisionSucceeded},
		{Number: 3, Cluster: "dev-europe", Phase: api.RevisionSucceeded},
	}}
	read := func(_ context.Context, _ store.View, on string, number int) (api.Plan, error) {
		if number == 3 && on == "dev-europe" {
			return api.Plan{Context: on, Steps: []api.PlanStep{}}, nil
		}
		if number != 10 || on != "" {
			return api.Plan{}, problem.New("there is no such revision", "choose 10")
		}
		return api.Plan{Steps: []api.PlanStep{{Object: api.PlanObject{Kind: "ConfigMap", Name: "conf"}, Action: api.ActionUpdate,
			Fields: []api.FieldChange{{Path: "data.key", From: "old", To: "swordfish"}}}}}, nil
	}
	f := fixtureWith(Options{Revision: read}, statetest.Session, loaded, known)
	none := newFixture(statetest.Session)
	for _, tc := range []struct {
		of   fixture
		path string
		code int
		want []string
	}{
		{f, "/api/view", 200, []string{`"number": 9`, `"phase": "failed"`, `"failures": "web"`}},
		{none, "/api/view", 200, []string{`"revisions": []`}},
		{f, "/api/page?follow=false", 200, []string{`"revisions":[{"number":10`, `"number":9`, `"command":"ci"`, `{"cluster":"dev-europe","number":3,`}},
		{f, "/apis/hone.dev/v1alpha1/revisions", 200, []string{`"id":"000009"`, `"id":"000010"`, `"id":"context dev-europe 000003"`}},
		{f, "/api/revision?number=3&cluster=dev-europe", 200, []string{`"context":"dev-europe"`}},
		{f, "/api/revision?number=3&cluster=other", 409, []string{"no declared cluster with this context"}},
		{f, "/api/revision?number=10", 200, []string{`"path":"data.key"`, `"from":"old"`}},
		{f, "/api/revision?number=7", 409, []string{"there is no such revision", `"mend":"choose 10"`}},
		{f, "/api/revision?number=x", 400, []string{"number is the number of a revision"}},
		{none, "/api/revision?number=1", 409, []string{"has no cluster"}},
	} {
		code, body := tc.of.do(request("GET", tc.path, ""))
		missing := slices.DeleteFunc(slices.Clone(tc.want), func(want string) bool { return strings.Contains(body, want) })
		if code != tc.code || len(missing) > 0 || strings.Contains(body, "swordfish") {
			t.Errorf("GET %s: %d, lacks %q or shows a secret:\n%s", tc.path, code, missing, body)
		}
	}
}
