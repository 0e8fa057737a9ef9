package compose

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// document is the parsed YAML of a Compose file, with lines.
type document struct {
	// path is empty for inline text; label is its name in messages.
	path  string
	label string
	data  []byte
	// roots are the contents of its YAML documents.
	roots []*yaml.Node
}

// parse reads the YAML of a file. The error is an *Error.
func parse(path, label string, data []byte) (*document, error) {
	d := &document{path: path, label: label, data: data}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, parseError(label, data, err)
		}
		if alias := circle(&n, map[*yaml.Node]bool{}); alias != nil {
			return nil, &Error{File: label, Line: alias.Line, Msg: "anchor " + strconv.Quote(alias.Value) + " contains itself"}
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
			d.roots = append(d.roots, n.Content[0])
		}
	}
}

// circle returns an alias that is part of its own target, or nil. entered holds the visited nodes, with true for those
// whose visit has not ended.
func circle(n *yaml.Node, entered map[*yaml.Node]bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil || entered[n.Alias] {
			return n
		}
		return circle(n.Alias, entered)
	}
	if _, seen := entered[n]; seen {
		return nil
	}
	entered[n] = true
	for _, c := range n.Content {
		if alias := circle(c, entered); alias != nil {
			return alias
		}
	}
	entered[n] = false
	return nil
}

var (
	// yamlPlaces matches the places in the library's messages: the beginning of the context, and the place of the
	// error.
	yamlPlaces = regexp.MustCompile(`^(?:(.*?) at (?:line (\d+)(?:, column \d+)?|<unknown position>): )?(?:(?:line (\d+)(?:, column \d+)?|<unknown position>): )*(.*)$`)
	// yamlValue matches quoted values.
	yamlValue = regexp.MustCompile("`[^`]*` ?")
)

// parseError works like yamlError, for errors of the parser, which counts lines from 0, unlike the scanner, which counts from 1.
func parseError(label string, data []byte, err error) *Error {
	e := yamlError(label, err)
	if reflect.TypeOf(err).Name() == "ParserError" {
		// The end of the text may be reported below its last line.
		e.Line = min(e.Line+1, bytes.Count(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))+1)
	}
	return e
}

// yamlError turns an error of the YAML library into one with a place, without the quoted values.
func yamlError(label string, err error) *Error {
	msg := err.Error()
	if i := strings.Index(msg, "yaml: "); i >= 0 {
		msg = msg[i+len("yaml: "):]
	}
	msg, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(msg, "construct errors:")), "\n")
	m := yamlPlaces.FindStringSubmatch(yamlValue.ReplaceAllString(msg, ""))
	context, from, at, msg := m[1], m[2], m[3], m[4]
	// An unterminated construct is reported where it begins.
	if at == "" || from != "" && strings.Contains(msg, "end of stream") {
		at = from
	}
	if context != "" {
		msg += " " + context
	}
	line, _ := strconv.Atoi(at)
	return &Error{File: label, Line: line, Msg: msg}
}

// maxMerges bounds how far merge keys are followed: they may form a cycle.
const maxMerges = 16

// child returns the value of a key of a mapping, including keys from aliases and merge keys.
func child(n *yaml.Node, key string) *yaml.Node {
	_, v := entry(n, key, maxMerges)
	return v
}

// entry returns the nodes of a key and its value.
func entry(n *yaml.Node, key string, merges int) (k, v *yaml.Node) {
	n = target(n)
	if n == nil || n.Kind != yaml.MappingNode || merges == 0 {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], target(n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "<<" {
			continue
		}
		for _, from := range list(n.Content[i+1]) {
			if k, v := entry(from, key, merges-1); v != nil {
				return k, v
			}
		}
	}
	return nil, nil
}

// target follows aliases.
func target(n *yaml.Node) *yaml.Node {
	for range maxMerges {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// list returns the elements of a sequence, or any other node as the only element.
func list(n *yaml.Node) []*yaml.Node {
	n = target(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	}
	return []*yaml.Node{n}
}

// scalar returns the text of a scalar, empty for anything else.
func scalar(n *yaml.Node) string {
	n = target(n)
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// keys returns the keys of a mapping in order, without those that are merged in.
func keys(n *yaml.Node) []string {
	n = target(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "<<" {
			out = append(out, n.Content[i].Value)
		}
	}
	return out
}

// find returns the line of the deepest existing node on a path such as services.web.ports.0, and the number of path
// parts that lead to it. Names may contain dots.
func (d *document) find(path []string) (line, depth int) {
	for _, root := range d.roots {
		if l, n := findIn(root, path); n > depth {
			line, depth = l, n
		}
	}
	return line, depth
}

func findIn(n *yaml.Node, path []string) (line, depth int) {
	n = target(n)
	if n == nil || len(path) == 0 {
		return 0, 0
	}
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(strings.Trim(path[0], "[]"))
		if err != nil || i < 0 || i >= len(n.Content) {
			return 0, 0
		}
		l, deeper := findIn(n.Content[i], path[1:])
		if deeper == 0 {
			l = n.Content[i].Line
		}
		return l, deeper + 1
	}
	for taken := len(path); taken > 0; taken-- {
		k, v := entry(n, strings.Join(path[:taken], "."), maxMerges)
		if k == nil {
			continue
		}
		l, deeper := findIn(v, path[taken:])
		if deeper == 0 {
			l = k.Line
		}
		return l, deeper + taken
	}
	return 0, 0
}

// mention returns the line of the first scalar that contains a text, 0 if none does.
func (d *document) mention(text string) int {
	for _, root := range d.roots {
		if line := mentionIn(root, text); line > 0 {
			return line
		}
	}
	return 0
}

func mentionIn(n *yaml.Node, text string) int {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, text) {
		return n.Line
	}
	for _, c := range n.Content {
		if line := mentionIn(c, text); line > 0 {
			return line
		}
	}
	return 0
}
