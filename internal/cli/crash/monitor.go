package crash

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/standby"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Main runs this process as a monitor if its arguments request it. It then returns true when its work is done, and main must return
// immediately.
func Main(args []string) (handled bool) {
	if !standby.Requested(args) {
		return false
	}
	raw, last := standby.Received()
	var o orders
	_ = json.Unmarshal(last, &o) // without orders, there is no secret
	safe := clean(raw, logstore.NewScrubber(o.Secrets))
	if o.File != "" {
		_ = record(o.File, safe)
	}
	_, _ = os.Stderr.Write(safe)
	return true
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
