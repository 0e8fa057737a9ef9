package snapshot

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Changes makes the documents that a client lacks after a snapshot. It is for one goroutine.
type Changes struct {
	logs    *logstore.Cursor
	sent    store.View
	secrets []model.Secret
}

// Changes begins after the snapshot that Write has written, with the lines from number Until on.
func (s Session) Changes() *Changes {
	return &Changes{logs: s.Logs.CursorAt(logstore.Filter{}, s.Until-1), sent: s.View, secrets: state.TheTiltfile(s.View).Result.Secrets}
}

// Next adds an api.SnapshotChange, unless nothing has changed. loop is the duration of the store's last batch. more reports whether
// there are further log lines.
func (c *Changes) Next(ctx context.Context, v store.View, r *redact.Redactor, loop time.Duration, out *bytes.Buffer) (more bool, err error) {
	lines := c.logs.Next(chunk)
	if v.Seq <= c.sent.Seq && len(lines) == 0 {
		return false, nil
	}
	before := c.sent
	if secrets := state.TheTiltfile(v).Result.Secrets; !slices.Equal(secrets, c.secrets) {
		before, c.secrets = store.View{}, secrets // entries that were sent may hold the new ones
	}
	d := begin(out, r)
	d.value("snapshot", v.Seq)
	d.value("at", v.At)
	d.value("loopMicros", loop.Microseconds())
	gone := map[string][]string{}
	d.object("tables")
	for _, t := range state.Schema.Tables() {
		if t.Name == state.Events.Name() {
			continue // their values can be of any type
		}
		set, left := v.Since(before, t.Name)
		if left != nil {
			gone[t.Name] = left
		}
		if len(set) == 0 {
			continue
		}
		d.list(t.Name)
		for _, row := range set {
			if ctx.Err() != nil {
				break
			}
			d.value("", entry(row))
		}
		d.close()
	}
	d.close()
	d.value("gone", gone)
	d.list("logs")
	for _, l := range lines {
		d.value("", Line(l))
	}
	d.close()
	c.sent = v
	return len(lines) == chunk, d.end()
}
