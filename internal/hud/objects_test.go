package hud

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestReadObject checks that an object on the screen does not show the session's secrets, whatever kind it has, and that failures
// are reported.
func TestReadObject(t *testing.T) {
	s := hudtest.New()
	s.Open(model.Tiltfile{Secrets: []model.Secret{{Name: "keys", Key: "password", Value: "hunter2-hunter2"}}})
	view := s.View(t.Context())
	v := func() store.View { return view }
	object := model.AppliedObject{ObjectID: model.ObjectID{Kind: "Deployment", Name: "web"}}
	read := ReadObject(func(_ context.Context, o model.AppliedObject) (string, error) {
		return "kind: " + o.Kind + "\nenv: hunter2-hunter2\n", nil
	})
	got, err := read.reader(v)(t.Context(), object)
	if err != nil || strings.Contains(got, "hunter2") || !strings.Contains(got, "kind: Deployment") {
		t.Errorf("%v: %q", err, got)
	}
	no := errors.New("no answer")
	read = func(context.Context, model.AppliedObject) (string, error) { return "", no }
	if got, err := read.reader(v)(t.Context(), object); !errors.Is(err, no) || got != "" {
		t.Errorf("%v: %q", err, got)
	}
	if _, err := ReadObject(nil).reader(v)(t.Context(), object); err == nil || problem.Text(err) == "" {
		t.Errorf("without a cluster: %v", err)
	}
}
