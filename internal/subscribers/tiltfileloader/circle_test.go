package tiltfileloader

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// TestCirclesAreSlowedDown evaluates a Tiltfile that writes a file that it reads: data, or a part of the program, whose
// change aborts the evaluation.
func TestCirclesAreSlowedDown(t *testing.T) {
	for _, file := range []string{"/src/gen.yaml", "/src/lib/Tiltfile"} {
		synctest.Test(t, func(t *testing.T) {
			f := start(t)
			written := func() {
				c := changed(file)
				c.Made = time.Now()
				f.Then(c)
			}
			rounds := 0
			running := func() bool {
				synctest.Wait()
				return state.TheTiltfile(f.View()).Running()
			}
			for ; rounds < 50; rounds++ {
				for waited := 0; !running() && waited < 600; waited++ {
					time.Sleep(time.Millisecond)
				}
				if !running() {
					break
				}
				time.Sleep(20 * time.Millisecond)
				began := f.count()
				written()
				time.Sleep(20 * time.Millisecond)
				if running() && f.count() == began { // else it was aborted
					f.answers(good("web"))
				}
			}
			if rounds > 12 {
				t.Fatalf("%s: %d evaluations in a row", file, f.count())
			}
			log := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
			if !strings.Contains(log, "the Tiltfile is in a loop: 11 evaluations in a row have changed what it reads ("+strings.TrimPrefix(file, "/src/")+")") {
				t.Errorf("%s is not named: %s", file, log)
			}
			before := f.count()
			time.Sleep(time.Second)
			f.evaluations("after the pause", before+1)
			written()
			f.answers(good("web"))
			f.evaluations("in the second pause", before+1)
			time.Sleep(100 * time.Millisecond)
			written()
			f.evaluations("after a save", before+2)
			f.answers(good("web"))
		})
	}
}

// TestSavesAreNoCircle has a person, or an editor, save a file again and again at all kinds of paces, mostly during evaluations.
// No save waits longer than the longest interval between two saves, and nothing is called a loop.
func TestSavesAreNoCircle(t *testing.T) {
	const takes = 300 * time.Millisecond
	for _, file := range []string{"/src/gen.yaml", "/src/lib/Tiltfile"} {
		for _, pace := range []time.Duration{takes / 6, takes / 3, takes / 2, takes, 3 * takes} {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				random := rand.New(rand.NewPCG(1, uint64(pace)))
				next := func() time.Time { return time.Now().Add(pace/2 + time.Duration(random.Int64N(int64(pace)))) }
				var worst time.Duration // the longest pause between two evaluations while a save waits
				save, idle := next(), time.Now()
				for saves := 0; saves < 200; time.Sleep(time.Millisecond) {
					synctest.Wait()
					tf := state.TheTiltfile(f.View())
					switch {
					case tf.Running() && time.Since(tf.StartedAt) >= takes:
						f.answers(good("web"))
						idle = time.Now()
					case tf.Running() || !tf.Pending():
						idle = time.Now()
					default:
						worst = max(worst, time.Since(idle))
					}
					if !time.Now().Before(save) {
						c := changed(file)
						c.Made, save = time.Now(), next()
						f.Then(c)
						saves++
					}
				}
				if worst > 3*pace/2+time.Millisecond {
					t.Errorf("%s, saved every %s: waited for %s", file, pace, worst)
				}
				if log := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n"); strings.Contains(log, "is in a loop") {
					t.Errorf("%s, saved every %s: called a loop", file, pace)
				}
				synctest.Wait()
				if state.TheTiltfile(f.View()).Running() {
					f.answers(good("web"))
				}
			})
		}
	}
}
