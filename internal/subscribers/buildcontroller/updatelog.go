package buildcontroller

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// headlinePause is how long the headline of an update in place may wait for the result: soon after a save, the log says that it was noticed.
const headlinePause = time.Second

// updateLog is the log of one update. It begins with a headline, which says why the update takes place. Most updates in place copy a few
// files within milliseconds: there, headline and result are one line, and lines at debug level have the details. The headline stands
// alone once anything else is said, or once the update takes longer.
//
// It also counts warnings.
type updateLog struct {
	logstore.Logger
	reason state.BuildReason
	// asked has the names of the tokens with which the update was requested and confirmed.
	asked    state.Asked
	warnings atomic.Int64

	mu     sync.Mutex
	files  []string // guarded by mu
	begun  bool     // the headline is written; guarded by mu
	waited *time.Timer
}

func newUpdateLog(log logstore.Logger, reason state.BuildReason, asked state.Asked, files []string) *updateLog {
	return &updateLog{Logger: log, reason: reason, asked: asked, files: files}
}

// start writes the headline, or begins to wait for the result of an update in place.
func (l *updateLog) start(inPlace bool) {
	if inPlace {
		l.waited = time.AfterFunc(headlinePause, l.begin)
	} else {
		l.begin()
	}
}

// end stops waiting.
func (l *updateLog) end() {
	if l.waited != nil {
		l.waited.Stop()
	}
	l.begin()
}

func (l *updateLog) headline() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bannerLocked()
}

// begin writes the headline, once.
func (l *updateLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun = true
		logstore.Infof(l.Logger, "%s", l.bannerLocked())
	}
}

// meanwhile notes files that a running update has taken in.
func (l *updateLog) meanwhile(files []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		logstore.Infof(l.Logger, "Meanwhile: %s", state.FilesChangedText(files))
		return
	}
	l.files = slices.Clone(l.files)
	for _, f := range files {
		if !slices.Contains(l.files, f) {
			l.files = append(l.files, f)
		}
	}
}

// updated says which containers were updated in place.
func (l *updateLog) updated(containers []model.ContainerUpdate) {
	text := model.InPlaceText(containers)
	if text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line := "→ " + text
	if !l.begun {
		l.begun, line = true, l.bannerLocked()+" "+line
	}
	logstore.Infof(l.Logger, "%s", line)
}

// Write implements logstore.Logger.
func (l *updateLog) Write(level logstore.Level, text string) {
	if level > logstore.LevelDebug {
		l.begin()
	}
	if level == logstore.LevelWarn {
		l.warnings.Add(1)
	}
	l.Logger.Write(level, text)
}

// Progress implements logstore.Logger.
func (l *updateLog) Progress(id, text string, done bool) {
	l.begin()
	l.Logger.Progress(id, text, done)
}

// Flush completes open lines.
func (l *updateLog) Flush() { logstore.Flush(l.Logger) }

// bannerLocked says why the update takes place, and who has requested and confirmed it if that was not the owner.
func (l *updateLog) bannerLocked() string {
	text := banner(l.reason, l.files)
	if l.asked.By != "" && l.reason.Has(state.ReasonTrigger) {
		text += ", requested by " + l.asked.By
	}
	if l.asked.ConfirmedBy != "" {
		text += ", confirmed by " + l.asked.ConfirmedBy
	}
	return text
}

// banner says why an update takes place.
func banner(reason state.BuildReason, files []string) string {
	switch {
	case reason.Has(state.ReasonRebuild):
		return "Rebuild From Scratch"
	case reason.Has(state.ReasonInitial):
		return "Initial Build"
	case len(files) > 0:
		return state.FilesChangedText(files)
	case reason.Has(state.ReasonTrigger):
		return "Triggered"
	case reason.Has(state.ReasonRestore):
		return "Restoring"
	case reason.Has(state.ReasonRetry):
		return "Trying Again"
	case reason.Has(state.ReasonRegistry):
		return "Registry Changed"
	case reason.Has(state.ReasonConfig):
		return "Config Changed"
	case reason.Has(state.ReasonTested):
		return "Tested Resources Changed"
	case reason.Has(state.ReasonKeep):
		return "Changed By Others"
	case reason.Has(state.ReasonLost):
		return "Objects Went Missing"
	case reason.Has(state.ReasonBroken):
		return "Updating In Place Failed"
	case reason.Has(state.ReasonBehind):
		return "Container Was Behind"
	}
	return "Container Started"
}
