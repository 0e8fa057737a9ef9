package docker

import (
	"io"
	"testing"
	"testing/synctest"
)

// announced is an input that says when it is read first.
type announced struct {
	io.Reader
	begun chan struct{}
}

func (a *announced) Read(p []byte) (int, error) {
	if a.begun != nil {
		close(a.begun)
		a.begun = nil
	}
	return a.Reader.Read(p)
}

// TestHeldInput reads the input at once, since that may make the user's terminal raw, and delivers it when there is a size, or when
// the command has ended before.
func TestHeldInput(t *testing.T) {
	for name, end := range map[string]func(*heldInput){
		"a size comes":     func(h *heldInput) { h.release() },
		"the command ends": func(h *heldInput) { _ = h.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				begun := make(chan struct{})
				h := &heldInput{in: &announced{r, begun}, free: make(chan struct{})}
				delivered := make(chan string, 1)
				go func() {
					p := make([]byte, 10)
					n, _ := h.Read(p)
					delivered <- string(p[:n])
				}()
				<-begun
				if _, err := w.Write([]byte("keys")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				select {
				case got := <-delivered:
					t.Errorf("%q came too early", got)
				default:
				}
				end(h)
				if got := <-delivered; got != "keys" {
					t.Errorf("%q was delivered", got)
				}
			})
		})
	}
}
