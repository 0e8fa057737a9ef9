package settings

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/hone-dev/hone/internal/base/suggest"
)

// Binding gives a verb of the screen other keys.
type Binding struct {
	// Verb is the name of the verb, as the command palette shows it.
	Verb string
	// Keys replace the keys of the verb; without any, it has none.
	Keys []string
	// Place is the line of the file, "path:line".
	Place string
}

// Command is a command of the user's own.
type Command struct {
	// Name is shown in the palette and in the help.
	Name string
	// Key is the key; empty for none.
	Key string
	// Run is a command line for the shell, with facts about the selected resource in its environment.
	Run string
	// Terminal gives the command the terminal; otherwise its output is shown on the screen.
	Terminal bool
	// Confirm asks before it runs.
	Confirm bool
	Place   string
}

// Facts are the variables that describe the selection to a command. Facts that do not apply are empty or missing.
var Facts = []string{"HONE_RESOURCE", "HONE_TILTFILE", "HONE_CONTEXT", "HONE_NAMESPACE", "HONE_POD", "HONE_CONTAINER", "HONE_URL",
	"HONE_RESOURCES", "HONE_LINE", "HONE_FILE", "HONE_FILE_LINE"}

// Command returns the command with a name.
func (s Settings) Command(name string) (c Command, ok bool) {
	i := slices.IndexFunc(s.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return s.Commands[i], true
}

// Highlight is a text that stands out in logs.
type Highlight struct {
	// Text is a text, or an expression between slashes, as in a find.
	Text  string
	Place string
}

// parseHighlights takes in the setting highlight: a text or a list of texts.
func (s *Settings) parseHighlights(path string, n *yaml.Node) *fault {
	list := n.Content
	if n.Kind == yaml.ScalarNode {
		list = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		return &fault{n, "highlight is no list of texts", "write a text or /expression/, or several: [timeout, /user=\\d+/]"}
	}
	for _, t := range list {
		if t.Kind != yaml.ScalarNode || t.Value == "" {
			return &fault{t, "this is not a text", "write a text or /expression/"}
		}
		s.Highlights = append(s.Highlights, Highlight{t.Value, fmt.Sprintf("%s:%d", path, t.Line)})
	}
	return nil
}

// parseKeys takes in the setting keys: names of verbs, each with a key or a list of keys.
func (s *Settings) parseKeys(path string, n *yaml.Node) *fault {
	if n.Kind != yaml.MappingNode {
		return &fault{n, "keys lists no keys", "write a line for each verb, such as pager: F4"}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		b := Binding{Verb: name.Value, Keys: []string{}, Place: fmt.Sprintf("%s:%d", path, name.Line)}
		switch value.Kind {
		case yaml.ScalarNode:
			if value.Value != "" && value.Tag != "!!null" {
				b.Keys = append(b.Keys, value.Value)
			}
		case yaml.SequenceNode:
			for _, k := range value.Content {
				if k.Kind != yaml.ScalarNode {
					return &fault{k, "this is not a key", keysMend}
				}
				b.Keys = append(b.Keys, k.Value)
			}
		default:
			return &fault{value, "this is not a key", keysMend}
		}
		s.Keys = append(s.Keys, b)
	}
	return nil
}

const keysMend = "write one key, or several: [t, F5]"

// commandFields are the fields of a command.
var commandFields = []struct {
	name string
	set  func(c *Command, value string) (ok bool)
}{
	{"name", func(c *Command, v string) bool { c.Name = v; return v != "" }},
	{"key", func(c *Command, v string) bool { c.Key = v; return v != "" }},
	{"run", func(c *Command, v string) bool { c.Run = v; return strings.TrimSpace(v) != "" }},
	{"terminal", func(c *Command, v string) bool { return choice(&c.Terminal, v) }},
	{"confirm", func(c *Command, v string) bool { return choice(&c.Confirm, v) }},
}

func choice(to *bool, v string) bool {
	*to = v == "true"
	return v == "true" || v == "false"
}

// parseCommands takes in the setting commands: a list.
func (s *Settings) parseCommands(path string, n *yaml.Node) *fault {
	const form = "write for each command: - {name: …, key: …, run: …}"
	if n.Kind != yaml.SequenceNode {
		return &fault{n, "commands is not a list", form}
	}
	var fields []string
	for _, f := range commandFields {
		fields = append(fields, f.name)
	}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			return &fault{item, "this is not a command", form}
		}
		c := Command{Place: fmt.Sprintf("%s:%d", path, item.Line)}
		for i := 0; i+1 < len(item.Content); i += 2 {
			name, value := item.Content[i], item.Content[i+1]
			at := -1
			for j, f := range fields {
				if f == name.Value {
					at = j
				}
			}
			switch {
			case at < 0:
				return &fault{name, fmt.Sprintf("a command has no field %q", name.Value), suggest.Mend(name.Value, fields, "the fields are "+strings.Join(fields, ", "))}
			case value.Kind != yaml.ScalarNode || !commandFields[at].set(&c, value.Value):
				return &fault{value, fmt.Sprintf("%q is not a value of %s", value.Value, name.Value), form + "; terminal and confirm are true or false"}
			}
		}
		if c.Name == "" || c.Run == "" {
			return &fault{item, "a command needs a name and what it runs", form}
		}
		if other, twice := s.Command(c.Name); twice {
			return &fault{item, fmt.Sprintf("a command is called %q already: %s", c.Name, other.Place), "give one of them another name"}
		}
		s.Commands = append(s.Commands, c)
	}
	return nil
}
