//go:build linux

package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestJournal checks which notes of one synclet another one finds.
func TestJournal(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	dirs := journalDirs
	t.Cleanup(func() { journalDirs = dirs })
	journalDirs = []string{filepath.Join(first, "missing"), first, second}
	note := func(j *journal, sequence, step, code uint64) {
		j.note(protocol.Step{Sequence: sequence, Number: step}, code)
	}
	has := func(j *journal, sequence, step, want uint64) {
		t.Helper()
		if code, ok := j.outcome(protocol.Step{Sequence: sequence, Number: step}); !ok || code != want {
			t.Errorf("step %d of sequence %d: %d, %v", step, sequence, code, ok)
		}
	}
	hasNot := func(j *journal, sequence, step uint64) {
		t.Helper()
		if code, ok := j.outcome(protocol.Step{Sequence: sequence, Number: step}); ok {
			t.Errorf("step %d of sequence %d has ended with %d", step, sequence, code)
		}
	}
	j := openJournal("abc1")
	hasNot(j, 7, 0)
	note(j, 7, 0, 0)
	note(j, 7, 1, 5)
	for _, j := range []*journal{j, openJournal("abc1")} {
		has(j, 7, 0, 0)
		has(j, 7, 1, 5)
		hasNot(j, 7, 2)
		hasNot(j, 8, 0)
		hasNot(j, 0, 0)
	}
	hasNot(openJournal("other"), 7, 0)
	note(j, 9, 0, 3)
	j = openJournal("abc1")
	has(j, 9, 0, 3)
	hasNot(j, 7, 0) // there is one sequence at a time
	j.forget(7)
	has(openJournal("abc1"), 9, 0, 3)
	j.forget(9)
	hasNot(openJournal("abc1"), 9, 0)
	if entries, err := os.ReadDir(first); err != nil || len(entries) > 0 {
		t.Errorf("%v are left, %v", entries, err)
	}

	note(openJournal("old"), 1, 0, 0)
	note(openJournal("new"), 1, 0, 0)
	long := time.Now().Add(-2 * strangeAge)
	check(t, os.Chtimes(filepath.Join(first, journalPrefix+"old"), long, long))
	sweepJournals()
	hasNot(openJournal("old"), 1, 0)
	has(openJournal("new"), 1, 0, 0)

	// Nothing is followed or believed that another program may have put there.
	check(t, os.WriteFile(filepath.Join(first, "elsewhere"), []byte("1\n0 0"), 0o600))
	check(t, os.Symlink("elsewhere", filepath.Join(first, journalPrefix+"link")))
	hasNot(openJournal("link"), 1, 0)
	for name, text := range map[string]string{"empty": "", "words": "a\nb c\n", "half": "1\n0"} {
		check(t, os.WriteFile(filepath.Join(first, journalPrefix+name), []byte(text), 0o600))
		hasNot(openJournal(name), 1, 0)
	}
	for _, client := range []string{"", "../x", "a b", "longer-than-names-may-be"} {
		note(openJournal(client), 1, 0, 0)
		hasNot(openJournal(client), 1, 0)
	}
}
