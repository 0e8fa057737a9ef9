package crash

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
)

const (
	// monitorArg is the hidden argument that makes this program a monitor.
	monitorArg = "__crashes"
	// maxText bounds the text of a crash, in bytes.
	maxText = 16 << 20
)

// Main runs this process as a monitor if its arguments request it. It then returns true when its work is done, and main must return
// immediately.
func Main(args []string) (handled bool) {
	if len(args) != 1 || args[0] != monitorArg {
		return false
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT) // it ends when the other process has ended
	debug.FreeOSMemory()                                                          // free the memory that packages allocated at start
	monitor(os.Stdin, os.Stdout, os.Stderr)
	return true
}

// monitor waits until both pipes end, and writes what came out of the first as the orders from the second say.
func monitor(crash, control io.Reader, stderr io.Writer) {
	last := make(chan orders)
	go func() { last <- lastOrders(control) }()
	raw, _ := io.ReadAll(io.LimitReader(crash, maxText))
	_, _ = io.Copy(io.Discard, crash)
	o := <-last
	if len(raw) == 0 {
		return
	}
	safe := clean(raw, logstore.NewScrubber(o.Secrets))
	if o.File != "" {
		_ = record(o.File, safe)
	}
	_, _ = stderr.Write(safe)
}

// lastOrders reads orders until the end. The last of them may be cut short by the death of the writer.
func lastOrders(control io.Reader) (last orders) {
	for all := json.NewDecoder(control); ; {
		var o orders
		if all.Decode(&o) != nil {
			return last
		}
		last = o
	}
}

// clean returns a text without secrets, and without anything that a terminal obeys.
func clean(raw []byte, secrets logstore.Scrubber) []byte {
	var out bytes.Buffer
	_, _ = text.NewWriter(&out, false).Write([]byte(secrets.Text(string(raw))))
	return out.Bytes()
}

// record appends to a file, which exists as long as its session's record does.
func record(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(content)
	return err
}
