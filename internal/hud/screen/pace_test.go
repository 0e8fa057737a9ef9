package screen

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
)

// drawn returns the number of frames that were written.
func (w *wire) drawn() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.frames
}

// TestSlowLineGetsFewerFrames: a frame waits until the terminal has shown the one before. A terminal that never reports that gets
// every frame.
func TestSlowLineGetsFewerFrames(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	for _, tt := range []struct {
		name      string
		trip      time.Duration // from a question to its answer; zero for no answer
		least, at int           // frames in ten seconds: at least, at most
	}{
		{"a slow line", time.Second, 8, 12},
		{"a fast line", 5 * time.Millisecond, 200, 301},
		{"no answers", 0, 150, 301}, // it is asked twice
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWire()
				w.trip, w.silent = tt.trip, tt.trip == 0
				d := on(t, w, "xterm-256color", terminal.Description{})
				d.after(2 * paceTime * unanswered)
				before := w.drawn()
				end := time.Now().Add(10 * time.Second)
				for time.Now().Before(end) {
					d.write("api", "another line at "+time.Now().String())
					d.after(10 * time.Millisecond)
				}
				if n := w.drawn() - before; n < tt.least || n > tt.at {
					t.Errorf("%d frames, want %d to %d", n, tt.least, tt.at)
				}
				if err := d.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestEscapeAmongAnswers: the Esc key counts, however many answers of the terminal follow it at once.
func TestEscapeAmongAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		d := on(t, w, "xterm-256color", terminal.Description{})
		w.typed <- "?"
		d.after(time.Second)
		if got := w.take(); !strings.Contains(got, "HERE") {
			t.Fatal("the help is missing")
		}
		w.typed <- "\x1b"
		for range 10 {
			d.after(10 * time.Millisecond)
			w.typed <- statusAnswer
		}
		w.typed <- statusAnswer + "?\x1b" + statusAnswer // the help again, and away
		d.after(time.Second)
		w.take()
		w.typed <- "?"
		d.after(time.Second)
		if got := w.take(); !strings.Contains(got, "HERE") {
			t.Error("the help was not closed")
		}
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestIdleScreenSleeps: when nothing happens, the screen draws only when an age that it shows changes, once a minute at most.
func TestIdleScreenSleeps(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		v := d.view(hudtest.ShopTime).View
		for i := range v.Rows { // nothing is being updated
			if v.Rows[i].Status == view.Updating {
				v.Rows[i].Status = view.Well
			}
		}
		d.view = func(time.Time) Frame {
			f := Frame{View: v}
			f.View.Refresh = time.Minute
			return f
		}
		d.changed <- struct{}{}
		d.after(time.Hour)
		before := d.term.shows.Load()
		d.after(10 * time.Minute)
		if n := d.term.shows.Load() - before; n > 10 {
			t.Errorf("%d drawings in ten idle minutes", n)
		}
	})
}

// TestNoAnswerForOthers: a terminal that is given away gets no more questions, and the screen waits for the answer to the last
// one. Otherwise the program that has it next would read the answer.
func TestNoAnswerForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		w.trip = paceTime / 2
		o := newOutlet(w, terminal.Description{Term: "xterm-256color"}.Abilities())
		if err := o.Start(); err != nil {
			t.Fatal(err)
		}
		var reader sync.WaitGroup
		var typed strings.Builder
		reader.Go(func() {
			p := make([]byte, 100)
			for {
				n, err := o.Read(p)
				if typed.Write(p[:n]); err != nil {
					return
				}
			}
		})
		o.mark()
		o.shown(t.Context()) // it answers
		o.mark()
		w.take()
		asked := time.Now()
		if err := o.Drain(); err != nil {
			t.Error(err)
		}
		if took := time.Since(asked); took != w.trip {
			t.Errorf("the terminal was given away after %v, and answered after %v", took, w.trip)
		}
		o.mark()
		o.tell(heard{changed: true, background: darkBackground})
		if got := w.take(); strings.Contains(got, askStatus) || strings.Contains(got, askBackground) {
			t.Errorf("asked after the end: %q", got)
		}
		reader.Wait()
		if typed.Len() > 0 {
			t.Errorf("the screen got %q", typed.String())
		}
	})
}
