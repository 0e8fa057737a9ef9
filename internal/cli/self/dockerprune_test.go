package self

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPrune builds images of two names and removes the old ones. It keeps the newest ones, those in use, and the images of others.
func TestPrune(t *testing.T) {
	engine := dockertest.New()
	engine.AddImage("busybox")
	b := imagebuild.New(engine)
	var refs []string
	for i := range 5 {
		r, err := b.Build(t.Context(), imagebuild.Request{Target: model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{
			Contents: fmt.Sprintf("FROM busybox\nLABEL n=%d\n", i)}}})
		if err != nil {
			t.Fatal(err)
		}
		engine.SetTaggedAt(r.Local, time.Now().Add(time.Duration(i-10)*time.Hour))
		refs = append(refs, r.Local)
	}
	settings := model.DockerPruneSettings{MaxAge: 5 * time.Hour, KeepRecent: 2, Disable: true}
	var out bytes.Buffer
	g := &command.Global{Stdout: &out, Stderr: &out}
	if err := prune(t.Context(), g, engine, imagebuild.PruneRequest{Settings: settings, Of: []string{"api"}, Keep: []string{refs[1]}}); err != nil {
		t.Fatal(err)
	}
	for i, there := range []bool{false, true, false, true, true} {
		if _, found, err := engine.Inspect(t.Context(), refs[i]); err != nil || found != there {
			t.Errorf("%s: found %v, %v, want %v", refs[i], found, err, there)
		}
		if strings.Contains(out.String(), "  removed "+refs[i]+"\n") == there {
			t.Errorf("%s is reported wrongly:\n%s", refs[i], &out)
		}
	}
	if _, found, _ := engine.Inspect(t.Context(), "busybox"); !found {
		t.Error("an image that is not hone's is gone")
	}
	if !strings.Contains(out.String(), "more than 5h ago, except the newest 2 ") || !strings.Contains(out.String(), "2 references removed, 2 images with ") {
		t.Error(out.String())
	}
	out.Reset()
	if err := prune(t.Context(), g, engine, imagebuild.PruneRequest{Settings: settings, Of: []string{"api"}, Keep: []string{refs[1]}}); err != nil || !strings.Contains(out.String(), "There is nothing to remove.") {
		t.Errorf("%v: %s", err, &out)
	}
	engine.Fail("Ping", engine.Unreachable())
	err := prune(t.Context(), g, engine, imagebuild.PruneRequest{Settings: settings})
	var p *problem.Problem
	if !errors.As(err, &p) || p.Mend == "" {
		t.Errorf("without an engine: %v", err)
	}
	if _, found, _ := engine.Inspect(t.Context(), refs[1]); !found {
		t.Error("something was removed without an answer of the engine")
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{6 * time.Hour: "6h", 90 * time.Minute: "90m", 90 * time.Second: "1m30s", 0: "0s"} {
		if got := age(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
