// Package tailfile keeps the newest of the records that a program writes, in a file that survives a kill of the program: one line of
// JSON for each record. Nothing is written twice, and nothing waits for the disk.
//
// # Concurrency
//
// A File is used by one goroutine at a time.
package tailfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// File is the file of some records. It takes twice its limit on the disk: when it is full, it becomes the older half, in a file of the
// same name with ".1" appended.
type File struct {
	path  string
	limit int64
	size  int64
	out   *os.File
}

// Open opens the file at path for a writer. Its folder is made if necessary.
func Open(path string, limit int64) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	f := &File{path: path, limit: limit}
	return f, f.open()
}

func (f *File) open() (err error) {
	if f.out, err = os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("open %s: %w", f.path, err)
	}
	if info, err := f.out.Stat(); err == nil {
		f.size = info.Size()
	}
	return nil
}

// Append writes whole lines, each a record in JSON.
func (f *File) Append(lines []byte) error {
	if f.size > 0 && f.size+int64(len(lines)) > f.limit {
		_ = f.out.Close()
		if err := os.Rename(f.path, f.path+".1"); err != nil {
			return fmt.Errorf("begin %s again: %w", f.path, err)
		}
		if err := f.open(); err != nil {
			return err
		}
	}
	n, err := f.out.Write(lines)
	f.size += int64(n)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.out.Close() }

// Read returns the records in the last lines at path, oldest first. Lines that are no such record, such as the last one of a killed
// program, are left out. It reads the older half only if it needs it.
func Read[T any](path string, last int) (out []T) {
	var lines [][]byte // newest first
	for _, p := range []string{path, path + ".1"} {
		if len(lines) >= last {
			break
		}
		if content, err := os.ReadFile(p); err == nil {
			lines = slices.AppendSeq(lines, backward(content, last-len(lines)))
		}
	}
	for _, line := range slices.Backward(lines) {
		var record T
		if json.Unmarshal(line, &record) == nil {
			out = append(out, record)
		}
	}
	return out
}

// backward yields the last n lines of a file, the last one first.
func backward(content []byte, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		content = bytes.TrimSuffix(content, []byte("\n"))
		for ; n > 0 && len(content) > 0; n-- {
			i := bytes.LastIndexByte(content, '\n')
			if !yield(content[i+1:]) {
				return
			}
			content = content[:max(i, 0)]
		}
	}
}
