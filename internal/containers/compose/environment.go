package compose

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/template"
)

// environment adds the variables of env files to the environment.
func (s *Source) environment(dir string) error {
	files := s.opts.EnvFiles
	if files == nil {
		for _, f := range splitList(s.env["COMPOSE_ENV_FILES"]) {
			files = append(files, absolute(s.opts.Base, f))
		}
	}
	s.Project.EnvFiles = files
	if files != nil {
		return addEnvFiles(s.env, files, s.opts.Read)
	}
	if off, _ := strconv.ParseBool(s.env["COMPOSE_DISABLE_ENV_FILE"]); off {
		return nil
	}
	return addDefaultEnvFile(s.env, dir, s.opts.Read)
}

// addDefaultEnvFile adds the variables of the .env file in a folder, if it exists.
func addDefaultEnvFile(env map[string]string, dir string, read func(string) ([]byte, error)) error {
	path := filepath.Join(dir, ".env")
	data, err := read(path)
	if err != nil {
		return nil //nolint:nilerr // Compose also ignores a .env that it cannot read
	}
	return addEnv(env, path, data)
}

// addEnvFiles adds the variables of files. Later files win over earlier ones; variables that env already has win over
// all.
func addEnvFiles(env map[string]string, files []string, read func(string) ([]byte, error)) error {
	found := map[string]string{}
	for _, path := range files {
		data, err := read(path)
		if err != nil {
			return err
		}
		values, err := parseEnv(path, data, func(k string) (string, bool) {
			if v, ok := env[k]; ok {
				return v, true
			}
			v, ok := found[k]
			return v, ok
		})
		if err != nil {
			return err
		}
		for k, v := range values {
			found[k] = v
		}
	}
	for k, v := range found {
		if _, set := env[k]; !set {
			env[k] = v
		}
	}
	return nil
}

func addEnv(env map[string]string, path string, data []byte) error {
	return addEnvFiles(env, []string{path}, func(string) ([]byte, error) { return data, nil })
}

var envLine = regexp.MustCompile(`line (\d+)`)

// parseEnv reads lines of NAME=value. The library's messages quote the line and thus values, so only the line number is
// taken from them.
func parseEnv(path string, data []byte, lookup func(string) (string, bool)) (map[string]string, error) {
	// A bare name takes its value from the environment. At the end of the file without a line break the library
	// mistakes it for a value without a name.
	values, err := dotenv.ParseWithLookup(io.MultiReader(bytes.NewReader(data), strings.NewReader("\n")), lookup)
	if err == nil {
		delete(values, "") // from "=value": no process can have such a variable
		return values, nil
	}
	return nil, envError(path, data, err)
}

// unterminated is the library's message about a quote without an end. It is followed by the text from the quote to the
// end of the line.
const unterminated = "unterminated quoted value "

func envError(path string, data []byte, err error) error {
	e := &Error{File: path, Msg: "this is not a list of NAME=value"}
	text := err.Error()
	if m := envLine.FindStringSubmatch(text); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Msg = "this is not NAME=value"
	}
	switch {
	case errors.As(err, new(*template.InvalidTemplateError)):
		e.Line = lineOfVariable(data)
		e.Msg = "a value has an invalid variable: write $$ for a plain $, or put the value in single quotes"
	case errors.As(err, new(*template.MissingRequiredError)):
		e.Line = lineOfVariable(data)
		e.Msg = "a value needs a variable that is not set"
	case strings.Contains(text, unterminated):
		e.Msg = "the quoted value that begins here does not end"
		_, value, _ := strings.Cut(text, unterminated)
		if i := bytes.LastIndex(data, []byte(value)); i >= 0 { // the library reports a line at the end of the file
			e.Line = 1 + bytes.Count(data[:i], []byte("\n"))
		}
	}
	return e
}

// lineOfVariable returns the line of the first variable that cannot be replaced, because the library does not report
// it.
func lineOfVariable(data []byte) int {
	for end, line := 0, 1; end < len(data); line++ {
		next := bytes.IndexByte(data[end:], '\n')
		if next < 0 {
			next = len(data) - end - 1
		}
		end += next + 1
		_, err := dotenv.ParseWithLookup(bytes.NewReader(data[:end]), nil)
		if errors.As(err, new(*template.InvalidTemplateError)) || errors.As(err, new(*template.MissingRequiredError)) {
			return line
		}
	}
	return 0
}

// substitute replaces variables in a text by their values. unset, if not nil, is called with the names of variables
// without a value.
func substitute(text string, env map[string]string, unset func(name string)) (string, error) {
	lookup := func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
	return substituteWith(text, lookup, unset)
}

func substituteWith(text string, lookup template.Mapping, unset func(name string)) (string, error) {
	replace := func(reference string, lookup template.Mapping, c *template.Config) (string, error) {
		// A reference with a default extends to the last brace of the text.
		reference, rest := cutBraces(reference)
		value, set, err := template.DefaultReplacementAppliedFunc(reference, lookup, c)
		if err != nil {
			return "", err
		}
		if !set && unset != nil {
			unset(strings.Trim(reference, "${}"))
		}
		if rest != "" {
			rest, err = substituteWith(rest, lookup, unset)
		}
		return value + rest, err
	}
	return template.SubstituteWithOptions(text, lookup, template.WithoutLogging, template.WithReplacementFunction(replace))
}

// cutBraces cuts a text after the brace that closes its first one.
func cutBraces(text string) (reference, rest string) {
	depth := 0
	for i, r := range text {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i+1], text[i+1:]
			}
		}
	}
	return text, ""
}

func exists(read func(string) ([]byte, error), path string) bool {
	_, err := read(path)
	return !errors.Is(err, fs.ErrNotExist)
}
