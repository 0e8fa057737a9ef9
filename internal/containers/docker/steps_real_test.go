package docker_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
)

// buildDiary notes the reports of a build and the lines "ran …" that it prints, in order.
type buildDiary struct {
	mu    sync.Mutex
	lines []string
}

func (d *buildDiary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// build builds the Dockerfile and returns the diary.
func (d *buildDiary) build(t *testing.T, e *docker.Engine, dockerfile string) []string {
	t.Helper()
	var log logstore.Func = func(_ logstore.Level, text string) {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "ran ") {
			d.add("%s", text)
		}
	}
	d.lines = nil
	id, err := e.Build(t.Context(), docker.BuildRequest{Contents: dockerfile, Log: log, OnStep: func(begun, all int) { d.add("%d/%d", begun, all) }})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, e, id)
	return d.lines
}

// TestEngineSteps checks that the steps move while an image is built: each one is reported before its command prints, and after
// the command before it has. Cached steps count.
func TestEngineSteps(t *testing.T) {
	e := dockertest.Real(t)
	script := func(last string) string {
		return "FROM busybox\nENV RUN=" + uuid.NewString() + "\nRUN echo ran 1 && sleep 1\nRUN echo ran 2 && sleep 1\nWORKDIR /w\nRUN echo ran " + last + "\n"
	}
	for _, tc := range []struct {
		name   string
		kit    string
		before []string // of each command
		all    int
	}{
		{"BuildKit", "1", []string{"2/5", "3/5", "5/5"}, 5},
		{"classic", "0", []string{"3/6", "4/6", "6/6"}, 6}, // which also numbers ENV
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("DOCKER_BUILDKIT", tc.kit)
			d, text := &buildDiary{}, script("3")
			got := d.build(t, e, text)
			at := -1
			for i, step := range tc.before {
				reported, ran := slices.Index(got, step), slices.Index(got, fmt.Sprintf("ran %d", i+1))
				if reported < at || ran < reported {
					t.Errorf("%s should be reported before command %d prints, and after the one before: %q", step, i+1, got)
				}
				at = ran
			}
			again := d.build(t, e, strings.Replace(text, "ran 3", "ran 4", 1))
			last := fmt.Sprintf("%d/%d", tc.all, tc.all)
			if slices.Contains(again, "ran 1") || slices.Index(again, last) < 0 || slices.Index(again, "ran 4") < slices.Index(again, last) {
				t.Errorf("cached steps do not count: %q", again)
			}
			t.Logf("%q, then %q", got, again)
		})
	}
}

// TestEngineStepsOfStages checks the steps of several stages, one of which the image does not need.
func TestEngineStepsOfStages(t *testing.T) {
	e := dockertest.Real(t)
	d := &buildDiary{}
	got := d.build(t, e, "FROM busybox AS one\nENV RUN="+uuid.NewString()+"\nRUN sleep 1; echo $RUN > /one\nFROM busybox AS idle\nRUN false\nFROM busybox AS two\nENV RUN="+uuid.NewString()+
		"\nRUN echo $RUN > /two\nRUN echo more >> /two\nFROM busybox\nCOPY --from=one /one /\nCOPY --from=two /two /\n")
	if len(got) < 3 || got[len(got)-1] != "6/6" { // 2 + 3 + 3, where the three stages begin with the same image
		t.Errorf("%q", got)
	}
	for _, line := range got {
		if !strings.HasSuffix(line, "/6") {
			t.Errorf("the number of steps changes: %q", got)
			break
		}
	}
	t.Logf("%q", got)
}

// TestEnginePushPercent checks that a push reports how much of the image has been sent.
func TestEnginePushPercent(t *testing.T) {
	e := dockertest.Real(t)
	ref := "localhost:5000/hone-test/push-percent:" + uuid.NewString()[:8]
	id, err := e.Build(t.Context(), docker.BuildRequest{Contents: "FROM busybox\nENV RUN=" + ref + "\nRUN head -c 40000000 /dev/urandom > /noise\n", Tags: []string{ref}})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, e, ref)
	removeImage(t, e, id)
	var got []int
	if err := e.Push(t.Context(), ref, nil, func(percent int) { got = append(got, percent) }); err != nil {
		t.Fatal(problem.Text(err))
	}
	if len(got) < 2 || !slices.IsSorted(got) || got[0] < 1 || got[len(got)-1] != 100 {
		t.Errorf("%d", got)
	}
	t.Logf("%d", got)
}
