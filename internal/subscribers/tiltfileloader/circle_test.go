package tiltfileloader

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
			for ; rounds < 50; rounds++ {
				time.Sleep(20 * time.Millisecond)
				began := f.count()
				written()
				time.Sleep(20 * time.Millisecond)
				if f.count() > began {
					continue // the evaluation was aborted, and has begun again
				}
				f.answers(good("web"))
				if f.count() == began {
					break
				}
			}
			if rounds > 10 {
				t.Fatalf("%s: %d evaluations in a row", file, f.count())
			}
			log := strings.Join(statetest.Texts(f.logs, "(Tiltfile)"), "\n")
			if !strings.Contains(log, "the Tiltfile is in a loop: 6 evaluations in a row have changed what it reads ("+strings.TrimPrefix(file, "/src/")+")") {
				t.Errorf("%s is not named: %s", file, log)
			}
			before := f.count()
			time.Sleep(2 * time.Second)
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
