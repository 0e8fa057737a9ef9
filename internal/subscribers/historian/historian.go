// Package historian records the updates of resources and the newest log lines for the project's next session, while the session runs: a
// session may be killed. Secrets are hidden in both.
//
// # Concurrency
//
// Run owns no goroutine.
package historian

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/tailfile"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// limit bounds the file of the updates, and that of the lines: each takes twice as much on the disk.
	limit = 512 << 10
	// pause is the time between two writes of lines.
	pause = time.Second
	// most is the number of lines that one write takes, and the number that the next session shows.
	most = 500
	// mostUpdates is the number of updates that the next session reads.
	mostUpdates = 5000
)

// Subscriber is the Historian.
type Subscriber struct {
	path string
	logs *logstore.Store
	log  *slog.Logger
}

// New returns the subscriber, which keeps the updates in the file at path, and the lines beside it; it does nothing if path is empty.
func New(path string, logs *logstore.Store, log *slog.Logger) *Subscriber {
	return &Subscriber{path, logs, log}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (*Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "Historian",
		Doc:       "Records updates and log lines for the project's next session, and reports the updates of earlier ones.",
		Inputs:    store.Reads(state.Updates),
		Outputs:   store.Emits(state.HistoryRecalled{}),
		Externals: []string{"filesystem"},
		Stage:     store.StageController,
		Feedback:  "a resource is recalled once",
	}
}

// update is the record of a build.
type update struct {
	Resource model.ManifestName `json:"resource"`
	Build    state.Build        `json:"build"`
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.path == "" {
		<-ctx.Done()
		return nil
	}
	k := keeper{past: recalled(s.path), told: map[string]bool{}, written: map[string]int{}}
	updates, err := tailfile.Open(s.path, limit)
	if err != nil {
		return err
	}
	defer updates.Close()
	lines, err := tailfile.Open(linesOf(s.path), limit)
	if err != nil {
		return err
	}
	defer lines.Close()
	changed, stop := s.logs.Subscribe()
	defer stop()
	later := time.NewTimer(pause)
	defer later.Stop()
	seen, waiting := s.logs.Newest(), true
	write := func(to *tailfile.File, text []byte) {
		if len(text) == 0 {
			return
		}
		if err := to.Append([]byte(s.logs.Scrub(string(text)))); err != nil {
			s.log.Warn("the next session will know less of this one", "err", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			_, text := k.look(rt.View())
			write(updates, text)
			write(lines, s.newLines(&seen))
			return nil
		case <-rt.Wake():
			actions, text := k.look(rt.View())
			for _, a := range actions {
				rt.Dispatch(a)
			}
			write(updates, text)
		case <-changed:
			if !waiting {
				waiting = true
				later.Reset(pause)
			}
		case <-later.C:
			waiting = false
			write(lines, s.newLines(&seen))
		}
		rt.Succeeded()
	}
}

// keeper compares snapshots with the records.
type keeper struct {
	past map[string][]state.Build
	// told are the resources whose past has been reported, and written the number of the newest recorded build of each.
	told    map[string]bool
	written map[string]int
}

// look returns the past of resources that are new, and the records of the builds that have ended since the last look.
func (k *keeper) look(v store.View) (out []store.Action, records []byte) {
	for e := range state.Updates.In(v).Refs() {
		if past := k.past[e.ID]; !k.told[e.ID] && len(past) > 0 {
			out = append(out, state.HistoryRecalled{Resource: model.ManifestName(e.ID), Builds: past})
		}
		k.told[e.ID] = true
		for _, b := range slices.Backward(e.Value.Builds) {
			if b.Serial <= k.written[e.ID] {
				continue
			}
			k.written[e.ID] = b.Serial
			b.Output, b.Span = nil, "" // the lines are in the log
			if record, err := json.Marshal(update{model.ManifestName(e.ID), b}); err == nil {
				records = append(append(records, record...), '\n')
			}
		}
	}
	return out, records
}

// recalled returns the recorded builds of each resource, newest first.
func recalled(path string) map[string][]state.Build {
	past := map[string][]state.Build{}
	for _, u := range slices.Backward(tailfile.Read[update](path, mostUpdates)) {
		past[string(u.Resource)] = append(past[string(u.Resource)], u.Build)
	}
	return past
}

// linesOf returns the file of the lines that belong to a file of updates.
func linesOf(path string) string { return path + ".log" }

// newLines returns the records of the newest lines after a number, and sets it to the newest one. The logs of pods are left out: the
// cluster keeps them.
func (s *Subscriber) newLines(seen *uint64) []byte {
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	for _, l := range s.logs.Tail(logstore.Filter{MinLevel: logstore.LevelInfo, Sources: []logstore.Source{logstore.SourceGlobal, logstore.SourceBuild}}, most) {
		if l.Seq > *seen && l.ProgressID == "" {
			_ = encode.Encode(line{l.Time, l.Resource, l.Source, l.Continues, l.Text}) // plain values
		}
	}
	*seen = s.logs.Newest()
	return harmless(out.Bytes())
}

// harmless writes the characters of JSON texts that a terminal may obey as their numbers: people print such files.
func harmless(lines []byte) []byte {
	var out []byte
	for _, r := range string(lines) {
		if r != '\n' && !unicode.IsPrint(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// line is the record of a log line.
type line struct {
	Time      time.Time          `json:"time"`
	Resource  model.ManifestName `json:"resource,omitempty"`
	Source    logstore.Source    `json:"source,omitempty"`
	Continues bool               `json:"continues,omitempty"`
	Text      string             `json:"text"`
}

// Replay writes the newest recorded lines to the logs of a session that begins, and marks their end. They have no levels: old errors are
// no news.
func Replay(path string, logs *logstore.Store) {
	if path == "" {
		return
	}
	lines := tailfile.Read[line](linesOf(path), most)
	end := map[model.ManifestName]time.Time{}
	var order []model.ManifestName
	for _, l := range lines {
		if _, known := end[l.Resource]; !known {
			order = append(order, l.Resource)
		}
		end[l.Resource] = l.Time
		logs.Append(logstore.Entry{Time: l.Time, Resource: l.Resource, Source: l.Source, Level: logstore.LevelInfo, Continues: l.Continues, Text: l.Text})
	}
	for _, name := range order {
		logs.Append(logstore.Entry{Time: end[name], Resource: name, Source: logstore.SourceBuild, Level: logstore.LevelInfo,
			Text: "── earlier session, until " + end[name].Local().Format(time.DateTime) + " ──"})
	}
}
