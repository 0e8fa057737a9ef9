package command

import (
	"fmt"
	"time"
)

// Moment is the time for which a command may wait in silence for something outside of it.
const Moment = 2 * time.Second

// Waiting prints the reason for a wait on standard error, if the wait takes longer than a moment. The caller ends the wait with
// done.
func (g *Global) Waiting(what string) (done func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-end:
		case <-time.After(Moment):
			fmt.Fprintf(g.Stderr, "Waiting for %s…\n", what)
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
