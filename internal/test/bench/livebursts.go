//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
)

// burstGrace is the time after the last save of a burst within which files may still arrive.
const burstGrace = 10 * time.Second

// sightings are the numbers that were seen in files, by path, in the order of arrival.
type sightings struct {
	mu   sync.Mutex
	seen map[string][]sighted
}

type sighted struct {
	n  int
	at time.Time
}

func (s *sightings) note(path string, n int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[path] = append(s.seen[path], sighted{n, at})
}

// since returns when a file was first seen with the content of save n, or of a later one.
func (s *sightings) since(path string, n int) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.seen[path] {
		if seen.n >= n {
			return seen.at, true
		}
	}
	return time.Time{}, false
}

// saved is a save with its number.
type saved struct {
	path string
	n    int
	at   time.Time
}

// arrivals returns the time that each save took until it was seen, and the number of saves that never were.
func (s *sightings) arrivals(all []saved) (took times, lost int) {
	for _, one := range all {
		if at, ok := s.since(one.path, one.n); ok {
			took = append(took, max(0, at.Sub(one.at)))
		} else {
			lost++
		}
	}
	return took, lost
}

// settle waits until the given saves have been seen, and looks at the files of the others once more.
func (s *sightings) settle(ctx context.Context, c *container, last []saved) {
	for _, one := range last {
		err := harness.Await(ctx, burstGrace, "the last saves", func() error {
			if _, ok := s.since(one.path, one.n); !ok {
				return fmt.Errorf("%s is missing", one.path)
			}
			return nil
		})
		if err != nil {
			c.witness.Look(one.path)
		}
	}
}

// number parses the number of the save from a text.
func number(content []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(content, []byte("save "))
	line, _, ended := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	return n, ok && ended && err == nil
}

// burst saves files of 1 KB at a steady rate, whether earlier saves have arrived or not. names returns the path of each.
func (l *live) burst(ctx context.Context, c *container, every, length time.Duration, names func(i int) string) (times, int, error) {
	s := &sightings{seen: map[string][]sighted{}}
	l.watch(func(_ int, seen witness.Sighting) {
		if n, ok := number(seen.Content); ok {
			s.note(seen.Path, n, seen.At)
		}
	})
	var all []saved
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range int(length / every) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
		f := file{local: names(i), remote: names(i), content: l.text(1024)}
		if err := l.save(i, f); err != nil {
			return nil, 0, err
		}
		all = append(all, saved{f.remote, l.n, time.Now()})
	}
	last := map[string]saved{}
	for _, one := range all {
		last[one.path] = one
	}
	var ends []saved
	for _, one := range last {
		ends = append(ends, one)
	}
	s.settle(ctx, c, ends)
	took, lost := s.arrivals(all)
	return took, lost, nil
}

// appended is a file that stays open and is written continuously, in lines of 1 KB.
type appended struct {
	file  *os.File
	lines []saved // numbered by the length of the file
	text  []byte
}

func (a *appended) add(path string) error {
	line := bytes.Repeat([]byte("x"), 1024)
	copy(line, fmt.Sprintf("line %d ", len(a.lines)))
	line[len(line)-1] = '\n'
	if _, err := a.file.Write(line); err != nil {
		return err
	}
	a.text = append(a.text, line...)
	a.lines = append(a.lines, saved{path, len(a.text), time.Now()})
	return nil
}

// The pace of appending: the time between lines, and the lines per save of the other file.
const (
	lineEvery = 10 * time.Millisecond
	besides   = 10
)

// appendBeside appends to one file continuously while another is saved. It returns how long each save and each line
// took, and how many lines arrived only after the appending had ended.
func (l *live) appendBeside(ctx context.Context, c *container, length time.Duration) (edits, lines liveCase, err error) {
	const log, beside = "files/log", "files/beside"
	f, err := os.OpenFile(filepath.Join(l.project.Dir, log), os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0)
	if err != nil {
		return edits, lines, err
	}
	defer f.Close()
	a := &appended{file: f}
	s := &sightings{seen: map[string][]sighted{}}
	var mu sync.Mutex // guards a.text
	wrong := 0
	l.watch(func(_ int, seen witness.Sighting) {
		mu.Lock()
		defer mu.Unlock()
		switch n, ok := number(seen.Content); {
		case seen.Path == beside && ok:
			s.note(beside, n, seen.At)
		case seen.Path == log && bytes.HasPrefix(a.text, seen.Content):
			s.note(log, len(seen.Content), seen.At)
		case seen.Path == log:
			wrong++
		}
	})
	var saves []saved
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	for i := range int(length / lineEvery) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return edits, lines, ctx.Err()
		}
		mu.Lock()
		err := a.add(log)
		mu.Unlock()
		if err == nil && i%besides == 0 {
			err = l.save(i/besides, file{local: beside, content: l.text(1024)})
			saves = append(saves, saved{beside, l.n, time.Now()})
		}
		if err != nil {
			return edits, lines, err
		}
	}
	ended := time.Now()
	if err := f.Close(); err != nil {
		return edits, lines, err
	}
	s.settle(ctx, c, []saved{saves[len(saves)-1], a.lines[len(a.lines)-1]})
	edits.took, edits.lost = s.arrivals(saves)
	lines.took, lines.lost = s.arrivals(a.lines)
	lines.lost += wrong
	lines.starved = s.starved(a.lines, ended)
	return edits, lines, nil
}

// starving is the time for which written lines may be missing while more are written.
const starving = 5 * time.Second

// starved counts the saves that arrived only after the saving had ended, although they were made long before.
func (s *sightings) starved(all []saved, ended time.Time) int {
	n := 0
	for _, one := range all {
		if at, ok := s.since(one.path, one.n); ok && at.After(ended) && ended.Sub(one.at) > starving {
			n++
		}
	}
	return n
}
