package model

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A trigger of a live update step is an absolute local path, or a pattern for such paths. In a pattern, * and ? stand for characters of a
// name, [a-z] for one of some characters, and ** for any number of folders.

// Triggered reports whether a trigger covers a file: the trigger, read as a path or as a pattern, is the file or a folder above it.
// A path that happens to look like a pattern still covers the file of that name.
func Triggered(trigger, file string) bool {
	trigger = filepath.Clean(trigger)
	return IsChild(trigger, file) || isPattern(trigger) && fits(segments(trigger), segments(file))
}

// anyTriggered reports whether one of the triggers covers a file.
func anyTriggered(triggers []string, file string) bool {
	return slices.ContainsFunc(triggers, func(t string) bool { return Triggered(t, file) })
}

// Reaches reports whether a trigger can cover a file at or below a folder.
func Reaches(trigger, dir string) bool {
	trigger, dir = filepath.Clean(trigger), filepath.Clean(dir)
	if IsChild(trigger, dir) || IsChild(dir, trigger) {
		return true
	}
	return isPattern(trigger) && leads(segments(trigger), segments(dir))
}

// CheckTrigger returns an error for a malformed pattern.
func CheckTrigger(trigger string) error {
	_, err := path.Match(filepath.ToSlash(trigger), "")
	return err
}

func isPattern(trigger string) bool { return strings.ContainsAny(trigger, "*?[") }

func segments(p string) []string { return strings.Split(filepath.ToSlash(p), "/") }

// fits reports whether a pattern fits a path or a folder above it.
func fits(pattern, file []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case len(file) == 0:
		return pattern[0] == "**" && len(pattern) > 1 && fits(pattern[1:], file)
	case pattern[0] == "**":
		return len(pattern) == 1 || fits(pattern[1:], file) || fits(pattern, file[1:])
	}
	ok, err := path.Match(pattern[0], file[0])
	return err == nil && ok && fits(pattern[1:], file[1:])
}

// leads reports whether a pattern can fit a path below a folder, or fits a folder above it.
func leads(pattern, dir []string) bool {
	if len(pattern) == 0 || len(dir) == 0 || pattern[0] == "**" {
		return true
	}
	ok, err := path.Match(pattern[0], dir[0])
	return err == nil && ok && leads(pattern[1:], dir[1:])
}
