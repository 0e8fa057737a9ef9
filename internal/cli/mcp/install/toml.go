package install

import (
	"errors"
	"regexp"
	"strings"
)

// header matches the line that begins a table.
var header = regexp.MustCompile(`^\s*\[`)

// inline matches an entry that a table of servers holds in one line.
var inline = regexp.MustCompile(`^\s*(mcp_servers\.)?"?hone"?\s*(\.|=)`)

// table returns the lines of a TOML file before, in and after a table with its subtables.
func table(text, name string) (before, in, after []string, err error) {
	part := &before
	above := ""
	for _, l := range strings.SplitAfter(text, "\n") {
		if header.MatchString(l) {
			above, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(l), "["), "]")
			above = strings.ReplaceAll(above, `"`, "")
			own := above == name || strings.HasPrefix(above, name+".")
			switch {
			case own && len(after) > 0:
				return nil, nil, nil, errors.New("its table " + name + " is in several places")
			case own:
				part = &in
			case len(in) > 0:
				part = &after
			}
		}
		declares := above == "mcp_servers" || above == "" && strings.Contains(l, "mcp_servers")
		if declares && inline.MatchString(l) {
			return nil, nil, nil, errors.New("it declares the server in one line")
		}
		*part = append(*part, l)
	}
	return before, in, after, nil
}

// setTable returns a TOML file with a table, which replaces the one of this name or comes last.
func setTable(text, name, body string) (string, error) {
	before, in, after, err := table(text, name)
	if err != nil {
		return "", err
	}
	own := "[" + name + "]\n" + body
	if len(in) > 0 {
		gap := ""
		if len(after) > 0 {
			gap = "\n"
		}
		return strings.Join(before, "") + own + gap + strings.Join(after, ""), nil
	}
	switch {
	case text == "":
		return own, nil
	case !strings.HasSuffix(text, "\n"):
		return text + "\n\n" + own, nil
	}
	return text + "\n" + own, nil
}

// removeTable returns a TOML file without a table, and without the empty line before it.
func removeTable(text, name string) (string, error) {
	before, in, after, err := table(text, name)
	if err != nil || len(in) == 0 {
		return text, err
	}
	head := strings.Join(before, "")
	if len(after) == 0 {
		head = strings.TrimSuffix(head, "\n")
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
	}
	return head + strings.Join(after, ""), nil
}
