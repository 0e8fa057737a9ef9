package ledger

import (
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// leaseMark is a locked file on the machine of a lease's holder. Its lock ends with the process, so that other processes of the machine see
// at once that the holder has died, whatever its number means by then. Where no file can be written, the lease runs out.
type leaseMark struct {
	path   string
	unlock func()
}

// marked returns the file for the lease of an ID.
func (l *Ledger) marked(id string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(l.vault.path)), "leases", filepath.Base(id)+".lock")
}

// mark marks the lease of an ID as one of this process.
func (l *Ledger) mark(id string) *leaseMark {
	m := &leaseMark{path: l.marked(id), unlock: func() {}}
	if os.MkdirAll(filepath.Dir(m.path), 0o700) != nil {
		return m
	}
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
