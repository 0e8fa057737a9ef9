package snapshot

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestFollow follows the shop while its user triggers an update, a pod goes and a log grows: after each change the screen is the same
// on both sides, entries that have not changed are not sent again, and each line arrives once.
func TestFollow(t *testing.T) {
	scene := hudtest.Shop()
	logs := statetest.Logs(t)
	hudtest.ShopLogs(logs)
	scene.Store.Step()
	v := scene.Store.Snapshot().All()
	s := Session{View: v, Logs: logs, Until: logs.Newest() + 1, Redactor: redact.Of(v), Version: "1.2.3", At: hudtest.ShopTime}
	var stream bytes.Buffer
	if err := s.Write(t.Context(), &stream); err != nil {
		t.Fatal(err)
	}
	here := statetest.Logs(t)
	f, err := Follow(&stream, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	changes := s.Changes()
	next := func() {
		t.Helper()
		if _, err := changes.Next(t.Context(), v, redact.Of(v), 7*time.Microsecond, &stream); err != nil {
			t.Fatal(err)
		}
		if stream.Len() == 0 {
			t.Fatal("no change was sent")
		}
		if over, err := f.Next(); over || err != nil {
			t.Fatal(over, err)
		}
		if diff := cmp.Diff(view.Build(v, hudtest.ShopTime, 7*time.Microsecond), view.Build(f.View(), hudtest.ShopTime, f.Loop()), cmp.AllowUnexported(view.Card{})); diff != "" {
			t.Errorf("view (-want +got):\n%s", diff)
		}
	}
	if more, err := changes.Next(t.Context(), v, redact.Of(v), 0, &stream); more || err != nil || stream.Len() > 0 {
		t.Fatalf("%v %v: sent although nothing has changed: %s", more, err, stream.Bytes())
	}
	_, pod := state.Pods.In(v).Ends()
	for _, actions := range [][]store.Action{
		{state.ResourcesTriggered{Names: []model.ManifestName{"api"}}},
		{state.SessionPaused{}},
		{state.PodGone{Pod: pod.Value.Pod}},
	} {
		before := f.View()
		scene.Store.Dispatch(actions...)
		scene.Store.Step()
		v = scene.Store.Snapshot().All()
		next()
		if was, is := state.Resources.In(before).Ref("mailer"), state.Resources.In(f.View()).Ref("mailer"); was != is || was == nil {
			t.Errorf("%T: an entry that has not changed is another one", actions[0])
		}
	}
	if state.Pods.In(f.View()).Ref(pod.ID) != nil {
		t.Errorf("pod %q is still there", pod.ID)
	}
	logs.Append(logstore.Entry{Time: hudtest.ShopTime, Resource: "api", Source: logstore.SourceRuntime, Text: "once"})
	next()
	texts := func(l *logstore.Store) (all []string) {
		for _, line := range l.ReadAfter(logstore.Filter{}, 0, 1000) {
			all = append(all, line.Text)
		}
		return all
	}
	if diff := cmp.Diff(texts(logs), texts(here)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	stream.WriteString(`{"over":true}`)
	if over, err := f.Next(); !over || err != nil {
		t.Errorf("%v %v at the end of the session", over, err)
	}
	if _, err := f.Next(); !errors.Is(err, ErrLost) {
		t.Errorf("%v at the end of the stream", err)
	}
	for _, text := range []string{"while the connection was lost", "after it"} {
		logs.Append(logstore.Entry{Time: hudtest.ShopTime, Resource: "api", Source: logstore.SourceRuntime, Text: text})
		if stream.Len() > 0 {
			t.Fatalf("unread: %s", stream.Bytes())
		}
		if text == "after it" {
			next()
			break
		}
		s.Until = logs.Newest() + 1
		changes = s.Changes()
		if err := s.Write(t.Context(), &stream); err != nil {
			t.Fatal(err)
		}
		if err := f.Resume(&stream); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(texts(logs), texts(here)); diff != "" {
		t.Errorf("lines after another stream (-want +got):\n%s", diff)
	}
}
