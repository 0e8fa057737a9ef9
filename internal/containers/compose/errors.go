package compose

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/template"
)

// Error is an error in a Compose file, or in a file with variables.
type Error struct {
	// File is the absolute path of the file, or the name of inline text; empty if the file is unknown.
	File string
	// Line counts from 1; 0 if the line is unknown.
	Line int
	// Msg describes the error. It contains no values of variables.
	Msg string
	// Unknown is an unknown key, and Known are the keys that are valid in its place.
	Unknown string
	Known   []string
}

var _ error = (*Error)(nil)

// Error returns "File:Line: Msg".
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

var (
	pathInError    = regexp.MustCompile(`\b((?:services|networks|volumes|configs|secrets|include|models|jobs|name)(?:\.[^\s:,]+)+)`)
	serviceInError = regexp.MustCompile(`(?:extend )?(?:service|services) "?([a-zA-Z0-9._-]+)"?`)
	cycleInError   = regexp.MustCompile(`cycle detected: ([a-zA-Z0-9._-]+) ->`)
	interpolated   = regexp.MustCompile(`(?:interpolation format for|while interpolating) (\S+?)[.:](?:\s|$)`)
	parsing        = regexp.MustCompile(`failed to parse (.*?): (?s:(.*))`)
	decoding       = regexp.MustCompile(`'((?:services|networks|volumes|configs|secrets)\[[^']+)' (.+)`)
	dependency     = regexp.MustCompile(`service "([^"]+)" depends on undefined service "([^"]+)"`)
	quotedValue    = regexp.MustCompile(`'.*?' (does not match|is not valid)`)
	unknownKey     = regexp.MustCompile(`additional propert(?:y|ies) '([^']+)'`)
	forbiddenKey   = regexp.MustCompile(`^(\S+)\.([^\s.]+) false schema$`)
)

// explain turns an error of the library into one with a place. Of several errors it returns only the first.
func (s *Source) explain(err error) error {
	first := firstOf(err)
	msg := first.Error()
	if m := parsing.FindStringSubmatch(msg); m != nil {
		return s.redacted(yamlError(m[1], errors.New(m[2])))
	}
	var invalid *template.InvalidTemplateError
	var unset *template.MissingRequiredError
	if m := interpolated.FindStringSubmatch(msg); m != nil {
		path := strings.Split(m[1], ".")
		switch {
		case errors.As(first, &invalid):
			return s.at(path, m[1]+": the variable has an invalid form: write $$ for a plain $")
		case errors.As(first, &unset):
			return s.at(path, fmt.Sprintf("%s: %s", m[1], unset.Error()))
		}
		return s.at(path, m[1]+": the value has the wrong type")
	}
	if errors.As(first, &unset) { // in an env_file of a service
		return s.at(nil, unset.Error())
	}
	if m := decoding.FindStringSubmatch(msg); m != nil {
		path := strings.NewReplacer("[", ".", "]", "").Replace(m[1])
		return s.at(strings.Split(path, "."), path+": "+m[2])
	}
	if m := dependency.FindStringSubmatch(msg); m != nil {
		return s.at([]string{"services", m[1], "depends_on", m[2]}, s.explainDependency(m[1], m[2]))
	}
	msg = s.shorten(msg)
	if m := cycleInError.FindStringSubmatch(msg); m != nil {
		return s.at([]string{"services", m[1], "depends_on"}, "services depend on each other: "+msg)
	}
	if m := pathInError.FindStringSubmatch(msg); m != nil {
		return s.atKey(strings.Split(m[1], "."), msg)
	}
	if m := serviceInError.FindStringSubmatch(msg); m != nil {
		path := []string{"services", m[1]}
		if strings.HasPrefix(msg, "cannot extend") {
			path = append(path, "extends")
		}
		return s.at(path, msg)
	}
	return s.atKey(nil, msg)
}

// firstOf returns the first of joined errors.
func firstOf(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) == 0 {
			return err
		}
		err = joined.Unwrap()[0]
	}
}

// shorten drops the parts of a message that the place already states, and parts without information.
func (s *Source) shorten(msg string) string {
	for _, d := range s.trace.documents {
		msg = strings.TrimPrefix(msg, "validating "+d.label+": ")
	}
	msg = quotedValue.ReplaceAllString(msg, "has a value that $1")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(msg, ": invalid compose project"), ": invalid project"))
}

// explainDependency distinguishes an inactive service from one that does not exist.
func (s *Source) explainDependency(from, on string) string {
	for _, d := range s.trace.documents {
		for _, root := range d.roots {
			var profiles []string
			for _, p := range list(child(child(child(root, "services"), on), "profiles")) {
				profiles = append(profiles, scalar(p))
			}
			if len(profiles) > 0 {
				return fmt.Sprintf("service %q depends on %q, which is left out because none of its profiles (%s) is active", from, on, strings.Join(profiles, ", "))
			}
		}
	}
	return fmt.Sprintf("service %q depends on %q, which does not exist", from, on)
}

// atKey works like at, for a message that may concern an unknown key below the path.
func (s *Source) atKey(path []string, msg string) error {
	m := unknownKey.FindStringSubmatch(msg)
	if f := forbiddenKey.FindStringSubmatch(msg); f != nil {
		path, m = strings.Split(f[1], "."), f[1:]
	}
	if m == nil {
		return s.at(path, msg)
	}
	where := strings.Join(path, ".")
	if where == "" {
		where = "the top level"
	}
	e := s.at(append(path[:len(path):len(path)], m[1]), fmt.Sprintf("%s has an unknown key %q", where, m[1]))
	e.Unknown, e.Known = m[1], knownKeys(path)
	return e
}

// at places a message at the deepest part of a path that exists in any of the files. Of several files the last one
// counts, as in Compose.
func (s *Source) at(path []string, msg string) *Error {
	e, depth := &Error{Msg: msg}, 0
	for _, d := range s.trace.documents {
		if line, n := d.find(path); n >= depth && n > 0 {
			e.File, e.Line, depth = d.label, line, n
		}
	}
	if depth == 0 {
		s.guess(e)
	}
	return s.redacted(e)
}

// guess places a message without a path: the message may end with the value that it concerns.
func (s *Source) guess(e *Error) {
	if i := strings.LastIndex(e.Msg, ": "); i >= 0 {
		for _, d := range s.trace.documents {
			if line := d.mention(e.Msg[i+2:]); line > 0 {
				e.File, e.Line = d.label, line
				return
			}
		}
	}
	if len(s.trace.files) > 0 {
		e.File = s.trace.files[0].label
	}
}

// shortestSecret is the least length of a value that is removed from messages: shorter ones occur in ordinary text by
// chance.
const shortestSecret = 5

// redacted removes the values of variables from a message, in case the library has quoted some.
func (s *Source) redacted(e *Error) *Error {
	for name, value := range s.env {
		if _, given := s.opts.Env[name]; given || len(value) < shortestSecret || strings.Contains(s.Project.Dir, value) {
			continue
		}
		e.Msg = strings.ReplaceAll(e.Msg, value, "…")
	}
	return e
}

// isIndex reports whether a part of a path is the index of an element.
func isIndex(part string) bool {
	_, err := strconv.Atoi(strings.Trim(part, "[]"))
	return err == nil || part == "[]"
}
