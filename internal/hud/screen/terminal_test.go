package screen

import (
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// cells is a terminal whose cells have no lock, as in tcell when it ends.
type cells struct {
	Terminal
	n     int
	ended bool
}

func (c *cells) Clear() { c.n++ }

func (c *cells) Sync() { c.n++ }

func (c *cells) Fini() { c.n, c.ended = 0, true }

// TestTerminalEndsUnderAChange ends a terminal while its size changes: its cells must be left alone from then on, and the race
// detector must find nothing.
func TestTerminalEndsUnderAChange(t *testing.T) {
	for name, change := range map[string]func(tcell.Screen){
		"clear": tcell.Screen.Clear,
		"sync":  tcell.Screen.Sync,
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				under := &cells{}
				own := &guarded{Terminal: under}
				var both sync.WaitGroup
				both.Go(func() { change(own) })
				both.Go(own.Fini)
				both.Wait()
				change(own)
				if !under.ended || under.n != 0 {
					t.Fatalf("ended %t, %d cells changed after the end", under.ended, under.n)
				}
			}
		})
	}
}
