// Package standby lets this program wait for the end of another process before its own packages initialize. The process that waits for a
// crash accompanies every command, and nearly none crashes: it uses a fifth of the processor time and a sixth of the memory that this program
// takes to begin. The package imports only the standard library, and it is initialized early because its path is.
//
// # Concurrency
//
// The package waits while it is initialized. Afterwards, Received may be called from any goroutine.
package standby

import (
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	// Arg is the hidden argument that makes this program wait.
	Arg = "__crashes"
	// maxText bounds the text of a crash, in bytes.
	maxText = 16 << 20
)

var (
	text   []byte
	orders json.RawMessage
)

func init() {
	if !Requested(os.Args[1:]) {
		return
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT) // it ends when the other process has ended
	receive(os.Stdin, os.Stdout)
	if len(text) == 0 {
		os.Exit(0)
	}
}

// Requested reports whether arguments make this program wait.
func Requested(args []string) bool { return len(args) == 1 && args[0] == Arg }

// Received returns the text of the crash that the program has waited for, and the last orders about it, in JSON.
func Received() (crash []byte, last json.RawMessage) { return text, orders }

// receive reads until both pipes end.
func receive(crash, control io.Reader) {
	last := make(chan json.RawMessage)
	go func() { last <- lastOf(control) }()
	text, _ = io.ReadAll(io.LimitReader(crash, maxText))
	_, _ = io.Copy(io.Discard, crash)
	orders = <-last
}

// lastOf returns the last of several values. One after it may be cut short by the death of the writer.
func lastOf(values io.Reader) (last json.RawMessage) {
	for all := json.NewDecoder(values); ; {
		var value json.RawMessage
		if all.Decode(&value) != nil {
			return last
		}
		last = value
	}
}
