package hud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// attached is a screen over a copy of the shop, which the test changes.
type attached struct {
	*session
	layout string
	newest atomic.Pointer[store.Snapshot]
	news   chan struct{}
	lost   atomic.Pointer[Loss]
	refuse error

	mu    sync.Mutex
	sent  []string
	moved []model.ManifestName
	// ends returns whether the user has left the screen, once that has ended.
	ends func() (left bool, err error)
	stop context.CancelFunc
}

// attach shows the shop; it must be called in a bubble of synctest.
func attach(t *testing.T, change ...func(*Attached)) *attached {
	t.Helper()
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hudtest.ShopLogs(logs)
	s := &attached{session: &session{t: t, scene: hudtest.Shop(), term: tcell.NewSimulationScreen("UTF-8")}, layout: filepath.Join(t.TempDir(), "screen.json"), news: make(chan struct{}, 1)}
	s.becomes()
	a := Attached{Session: "shop", ID: "mine", View: func() store.View { return s.newest.Load().All() }, Loop: func() time.Duration { return 0 }, Changed: s.news, Logs: logs,
		Screen: s.term, LayoutFile: s.layout, Version: "1.2.3", Readable: func(string) error { return nil }, Lost: func() *Loss { return s.lost.Load() }, Box: "dev@box",
		Send: func(_ context.Context, _ store.View, a store.Action) error {
			time.Sleep(time.Second) // a session that takes its time
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sent = append(s.sent, fmt.Sprintf("%T", a))
			return s.refuse
		},
		Moved: func(to model.ManifestName) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.moved = append(s.moved, to)
		}}
	for _, f := range change {
		f(&a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	done := make(chan error, 1)
	var left bool
	go func() {
		var err error
		left, err = a.Show(ctx)
		done <- errors.Join(err, logs.Close())
	}()
	s.ends = func() (bool, error) {
		defer cancel()
		err := <-done
		return left, err
	}
	synctest.Wait()
	return s
}

// becomes lets the copy take in actions.
func (s *attached) becomes(actions ...store.Action) {
	s.scene.Store.Dispatch(actions...)
	s.scene.Store.Step()
	s.newest.Store(s.scene.Store.Snapshot())
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// TestAttached follows a session, sends it a request, learns its refusal, meets another screen, and leaves: the session gets actions,
// and nothing else.
func TestAttached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := attach(t)
		s.shows("shop on dev@box @ kind-dev")
		s.shows("waits for worker to be ready")
		s.shows("picked job 8812")
		s.becomes(state.BuildCompleted{Resource: "worker", Serial: 2, At: hudtest.ShopTime, Mode: "image", Err: "exit 1"})
		s.shows("exit 1")
		s.becomes(state.ScreenOpened{ID: "mine"}, state.ScreenOpened{ID: "other"}, state.ScreenMoved{ID: "other", At: "web"})
		s.shows(" +1 ")
		s.shows("›  ✔ web")
		s.press(tcell.KeyDown, 0) // the heading of its group
		s.press(tcell.KeyDown, 0)
		s.press(tcell.KeyRune, 't')
		if strings.Contains(s.text(), "api will be updated") {
			t.Error("it says so before the session has accepted it")
		}
		time.Sleep(time.Second) // in a bubble: no real time passes
		s.shows("api will be updated")
		s.refuse = errors.New("the session thinks otherwise")
		s.press(tcell.KeyRune, 't')
		time.Sleep(time.Second) // in a bubble
		s.shows("the session thinks otherwise")
		s.press(tcell.KeyRune, 'q')
		if left, err := s.ends(); !left || err != nil {
			t.Errorf("left %v, %v", left, err)
		}
		if want := []string{"state.ResourcesTriggered", "state.ResourcesTriggered"}; !slices.Equal(s.sent, want) {
			t.Errorf("sent %v", s.sent)
		}
		if want := []model.ManifestName{"(Tiltfile)", "", "api"}; !slices.Equal(s.moved, want) {
			t.Errorf("moved to %q", s.moved)
		}
	})
}

// TestAttachedLost: while the connection to a session on another machine is lost, the screen says so, and why it does not come back.
func TestAttachedLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := attach(t)
		s.lost.Store(&Loss{Since: hudtest.ShopTime})
		s.becomes()
		s.shows("no connection to dev@box")
		s.lost.Store(&Loss{Since: hudtest.ShopTime, Err: problem.Wrap(errors.New("Connection \x1b[31mrefused\nand more"), "ssh does not reach box", "try ssh box")})
		s.becomes()
		s.press(tcell.KeyRune, '!')
		for _, want := range []string{"Connection refused", "ssh does not reach box", "from before " + hudtest.ShopTime.Format(time.TimeOnly), "try ssh box"} {
			s.shows(want)
		}
		s.press(tcell.KeyEscape, 0)
		s.lost.Store(nil)
		s.becomes()
		s.shows("waits for worker to be ready")
		if strings.Contains(s.text(), "no connection") {
			t.Errorf("the screen shows\n%s", s.text())
		}
		s.stop()
		if _, err := s.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestAttachedRevisions: an attached screen lists the revisions of the session, follows them, and has the session compare one.
func TestAttachedRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := attach(t, func(a *Attached) {
			a.ReadOnly = true
			a.Revision = func(_ context.Context, _ store.View, on string, number int) (api.Plan, error) {
				return api.Plan{Steps: []api.PlanStep{{Object: api.PlanObject{Kind: "ConfigMap", Name: fmt.Sprint("of-", number, on)}, Action: api.ActionDelete}}}, nil
			}
		})
		s.press(tcell.KeyRune, 'B')
		s.shows("kim@builder")
		s.becomes(state.RevisionsKnown{Revisions: []api.Revision{{Number: 14, RevisionOrigin: api.RevisionOrigin{By: "ann@desk"}, Phase: api.RevisionCancelled}}})
		s.shows("ann@desk")
		s.press(tcell.KeyEnter, 0)
		s.shows("- delete  configmap/of-14")
		s.stop()
		if _, err := s.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestAttachedReadOnly shows a session without a way to change it: no key makes a request, and the layout is not kept.
func TestAttachedReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := attach(t, func(a *Attached) { a.ReadOnly = true })
		s.shows("read-only")
		s.press(tcell.KeyDown, 0)
		s.press(tcell.KeyDown, 0)
		for _, r := range "tdm>V+" {
			s.press(tcell.KeyRune, r)
		}
		s.press(tcell.KeyRune, '?')
		s.shows("HERE")
		for _, no := range []string{"trigger an update", "save all lines", "will be updated"} {
			if strings.Contains(s.text(), no) {
				t.Errorf("the screen shows %q:\n%s", no, s.text())
			}
		}
		s.stop()
		if left, err := s.ends(); left || err != nil || len(s.sent) > 0 {
			t.Errorf("left %v, %v, sent %v", left, err, s.sent)
		}
		if _, err := os.Stat(s.layout); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the layout is kept: %v", err)
		}
	})
}
