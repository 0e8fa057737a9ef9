package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/filelock"
)

const markSuffix = ".lock"

// leaseMark is a locked file on the machine of a lease's holder. Its lock ends with the process, so that other processes of the machine see
// at once that the holder has died, whatever its number means by then. Where no file can be written, the lease runs out.
type leaseMark struct {
	path   string
	unlock func()
}

// marked returns the file for the lease of an ID.
func (l *Ledger) marked(id string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(l.vault.path)), "leases", filepath.Base(id)+markSuffix)
}

// mark marks the lease of an ID as one of this process.
func (l *Ledger) mark(id string) *leaseMark {
	m := &leaseMark{path: l.marked(id), unlock: func() {}}
	if os.MkdirAll(filepath.Dir(m.path), 0o700) != nil {
		return m
	}
	l.sweepMarks()
	if unlock, free, err := filelock.Try(m.path); err == nil && free {
		m.unlock = unlock
	}
	return m
}

func (m *leaseMark) remove() {
	m.unlock()
	_ = os.Remove(m.path)
}

// isGone reports whether a process of this machine held the lease of an ID, and is gone.
func (l *Ledger) isGone(id string) bool {
	if _, err := os.Stat(l.marked(id)); id == "" || err != nil {
		return false
	}
	held, err := filelock.Held(l.marked(id))
	return err == nil && !held
}

// unmark removes the file of a holder that is gone.
func (l *Ledger) unmark(id string) {
	if l.isGone(id) {
		_ = os.Remove(l.marked(id))
	}
}

// orphanAge is the age from which the file of a holder that is gone serves nobody: whoever waits has seen its lease run out.
const orphanAge = 100 * leaseTerm

// sweepMarks removes the files of holders that are gone for long, and whose lease another process has removed or taken over.
func (l *Ledger) sweepMarks() {
	dir := filepath.Dir(l.marked(""))
	entries, _ := os.ReadDir(dir) // those that cannot be read stay
	for _, e := range entries {
		info, err := e.Info()
		id, isMark := strings.CutSuffix(e.Name(), markSuffix)
		if err == nil && isMark && time.Since(info.ModTime()) > orphanAge {
			l.unmark(id)
		}
	}
}
