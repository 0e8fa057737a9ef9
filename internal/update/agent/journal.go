//go:build linux

package agent

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	journalPrefix = ".hone-sequence-"
	// mostJournal is the most that is read of a journal, in bytes: over a thousand steps.
	mostJournal = 64 << 10
)

// journalDirs are the folders in which a journal may be, in the order in which they are tried. Containers have the first one even
// if their root folder is read-only.
var journalDirs = []string{"/dev/shm", "/tmp"}

// journal names a client's newest sequence, once its first step begins, and tells how each of its commands has ended. It is in a
// file, since the program that carried them out is gone when the client comes back. There is one file for each client; the files of
// other programs are not touched. Without a folder for it, a command whose answer is lost is carried out a second time.
type journal struct {
	name string // of the file; empty if there can be none

	mu       sync.Mutex
	sequence uint64
	codes    map[uint64]uint64 // by step
	file     string            // its path; empty while there is none
}

// nameLetters are the characters of a client's name.
const nameLetters = "0123456789abcdefghijklmnopqrstuvwxyz"

// openJournal returns the notes of an earlier synclet of the client.
func openJournal(client string) *journal {
	j := &journal{}
	if client == "" || len(client) > maxComm || strings.Trim(client, nameLetters) != "" {
		return j
	}
	j.name = journalPrefix + client
	for _, dir := range journalDirs {
		file := path.Join(dir, j.name)
		if text := readJournal(file); text != nil {
			j.file = file
			j.parse(text)
			return j
		}
	}
	return j
}

// readJournal returns the content of a file that belongs to this user, nil for any other file.
func readJournal(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|atOnce, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !ownFile(info) {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, mostJournal))
	if err != nil {
		return nil
	}
	return text
}

func ownFile(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && int(st.Uid) == os.Getuid()
}

// parse reads the sequence from the first line, and a step with its code from each further line.
func (j *journal) parse(text []byte) {
	lines := strings.Split(string(text), "\n")
	j.sequence, _ = strconv.ParseUint(lines[0], 10, 64)
	j.codes = map[uint64]uint64{}
	for _, l := range lines[1:] {
		step, code, ok := strings.Cut(l, " ")
		n, err := strconv.ParseUint(step, 10, 64)
		c, cerr := strconv.ParseUint(code, 10, 64)
		if ok && err == nil && cerr == nil {
			j.codes[n] = c
		}
	}
}

// outcome returns the exit code of a step that has ended.
func (j *journal) outcome(s protocol.Step) (code uint64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.Sequence == 0 || s.Sequence != j.sequence {
		return 0, false
	}
	code, ok = j.codes[s.Number]
	return code, ok
}

// current returns the sequence that the notes are about, zero if there are none.
func (j *journal) current() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sequence
}

// begin notes that a step is about to begin, so that the files of its sequence are in place.
func (j *journal) begin(s protocol.Step) {
	if s.Sequence == 0 || j.name == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.Sequence != j.sequence {
		j.replace(s.Sequence)
		j.write()
	}
}

// replace replaces the notes by those about another sequence. mu must be held.
func (j *journal) replace(sequence uint64) { j.sequence, j.codes = sequence, map[uint64]uint64{} }

// note notes the exit code of a command, before the command is answered.
func (j *journal) note(s protocol.Step, code uint64) {
	if s.Sequence == 0 || j.name == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.Sequence != j.sequence {
		j.replace(s.Sequence)
	}
	j.codes[s.Number] = code
	j.write()
}

// write writes the notes. mu must be held.
func (j *journal) write() {
	text := strconv.AppendUint(nil, j.sequence, 10)
	for n, c := range j.codes {
		text = strconv.AppendUint(append(text, '\n'), n, 10)
		text = strconv.AppendUint(append(text, ' '), c, 10)
	}
	for _, dir := range journalDirs {
		file := path.Join(dir, j.name)
		if writeJournal(file, text) == nil {
			j.file = file
			return
		}
	}
}

// writeJournal replaces a file.
func writeJournal(name string, text []byte) error {
	temp := name + ".new"
	_ = os.Remove(temp)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|atOnce, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// sweepJournals removes the journals of clients that have been away for longer than strangeAge.
func sweepJournals() {
	for _, dir := range journalDirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), journalPrefix) {
				continue
			}
			if info, err := e.Info(); err == nil && ownFile(info) && time.Since(info.ModTime()) > strangeAge {
				_ = os.Remove(path.Join(dir, e.Name()))
			}
		}
	}
}

// forget removes the notes about a sequence.
func (j *journal) forget(sequence uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if sequence != j.sequence {
		return
	}
	j.sequence, j.codes = 0, nil
	if j.file != "" {
		_ = os.Remove(j.file)
		j.file = ""
	}
}
