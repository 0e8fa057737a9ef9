package screen

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/bug"
)

// TestTheScreenComesBack: the terminal is given to a program and taken back, also when the program fails.
func TestTheScreenComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read string
		var term simulated
		d := start(t, shop(t), newTerminal("UTF-8", 120, 34), func(d *driver, o *Options) {
			term = d.term
			o.Programs.Page = func(_ context.Context, path string) error {
				if !term.lent.Load() {
					return errors.New("the screen has kept the terminal")
				}
				b, err := os.ReadFile(path)
				read = string(b)
				return err
			}
		})
		d.press("|")
		d.after(time.Second)
		if !strings.Contains(read, "smtp") {
			t.Errorf("the pager has read %q", read)
		}
		if term.lent.Load() {
			t.Error("the terminal was not taken back")
		}
		d.press("?")
		d.shows("HERE")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := start(t, shop(t), newTerminal("UTF-8", 120, 34), func(_ *driver, o *Options) {
			o.Programs.Page = func(context.Context, string) error { return errors.New("no pager is called that") }
		})
		d.press("|")
		d.after(time.Second)
		d.shows("no pager is called that", "NAME")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestAPanicOutsideEndsTheScreen: the terminal is taken back first, so that the report can be printed.
func TestAPanicOutsideEndsTheScreen(t *testing.T) {
	defer bug.Take(func(*bug.Report) {})()
	v := shop(t)
	synctest.Test(t, func(t *testing.T) {
		d := start(t, v, newTerminal("UTF-8", 120, 34), func(_ *driver, o *Options) {
			o.Programs.Page = func(context.Context, string) error { panic("a fault in hone") }
		})
		d.press("|")
		d.after(time.Second)
		<-d.done
		var report *bug.Report
		if err := d.stop(); !errors.As(err, &report) || !strings.Contains(err.Error(), "a fault in hone") {
			t.Errorf("the screen ended with %v", err)
		}
		if d.term.lent.Load() {
			t.Error("the terminal was not taken back")
		}
	})
}

// TestJobControl: a screen that is asked to stop gives the terminal to the shell, from a prompt too; one that was stopped without being
// asked sets its terminal up again.
func TestJobControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, back, lent := make(chan JobControl, 1), make(chan struct{}), make([]bool, 0, 2)
		var term simulated
		d := start(t, shop(t), newTerminal("UTF-8", 120, 34), func(d *driver, o *Options) {
			term = d.term
			o.Job = asked
			o.Suspend = func(context.Context) error {
				lent = append(lent, term.lent.Load())
				<-back
				return nil
			}
		})
		for _, keys := range []string{"", "/mail"} {
			d.press(keys)
			asked <- Rest
			time.Sleep(time.Second)
			if !term.lent.Load() {
				t.Error("the screen has kept the terminal")
			}
			back <- struct{}{}
			d.after(time.Second)
			if term.lent.Load() {
				t.Error("the terminal was not taken back")
			}
		}
		d.shows(" filter: mail")
		if diff := cmp.Diff([]bool{true, true}, lent); diff != "" {
			t.Error(diff)
		}
		shows := term.shows.Load()
		asked <- Back
		d.after(time.Second)
		if term.lent.Load() || term.shows.Load() == shows {
			t.Error("nothing was drawn")
		}
		d.shows(" filter: mail")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}
