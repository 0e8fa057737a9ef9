// Package historian records the updates of resources and the newest log lines for the project's next session, while the session runs: a
// session may be killed. Secrets are hidden in both. Nothing waits for it: it writes the record of an update after the update has ended, on a
// goroutine of its own.
//
// # Concurrency
//
// Run owns no goroutine.
package historian

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/tailfile"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// limit bounds the file of the updates, and each file of lines: it takes twice as much on the disk.
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
	// keeper is made by the first Run: another one, after a failure, neither reports nor writes anything again.
	keeper *keeper
}

// New returns the subscriber, which keeps the updates in the file at path, and the lines beside it; it does nothing if path is empty.
func New(path string, logs *logstore.Store, log *slog.Logger) *Subscriber {
	return &Subscriber{path: path, logs: logs, log: log}
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
		Stage:     store.StageWatch, // after the servers, whose last lines it keeps
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
	if s.keeper == nil {
		s.keeper = &keeper{past: recalled(s.path), written: map[string]int{}}
	}
	k := s.keeper
	updates, err := tailfile.Open(s.path, limit)
	if err != nil {
		return err
	}
	defer updates.Close()
	var lines []*recorder
	for _, k := range kinds {
		file, err := tailfile.Open(s.path+k.suffix, limit)
		if err != nil {
			return err
		}
		defer file.Close()
		lines = append(lines, &recorder{file: file, filter: k.filter, seen: s.logs.Newest()})
	}
	changed, stop := s.logs.Subscribe()
	defer stop()
	later := time.NewTimer(pause)
	defer later.Stop()
	waiting := true
	write := func(to *tailfile.File, text []byte) {
		if len(text) == 0 {
			return
		}
		if err := to.Append([]byte(s.logs.Scrub(string(text)))); err != nil {
			s.log.Warn("the next session will know less of this one", "err", err)
		}
	}
	writeLines := func() {
		for _, r := range lines {
			write(r.file, r.newLines(s.logs))
		}
	}
	for {
		select {
		case <-ctx.Done():
			_, text := k.look(rt.View())
			write(updates, text)
			writeLines()
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
			writeLines()
		}
		rt.Succeeded()
	}
}

// keeper compares snapshots with the records.
type keeper struct {
	// past are the builds of earlier sessions that have not been reported yet, and written is the number of the newest recorded build of each
	// resource.
	past    map[string][]state.Build
	written map[string]int
}

// look returns the past of resources that are new, and the records of the builds that have ended since the last look.
func (k *keeper) look(v store.View) (out []store.Action, records []byte) {
	for e := range state.Updates.In(v).Refs() {
		if past := k.past[e.ID]; past != nil {
			out = append(out, state.HistoryRecalled{Resource: model.ManifestName(e.ID), Builds: past})
			delete(k.past, e.ID)
		}
		builds := e.Value.Builds
		if len(builds) == 0 || builds[0].Serial <= k.written[e.ID] {
			continue
		}
		for _, b := range slices.Backward(builds) {
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
