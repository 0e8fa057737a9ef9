package yamlstream

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// LineOf returns the line of the value at a path of keys and indexes, or of the first content if there is none.
func (d Document) LineOf(path ...string) int {
	return d.lineWhere(func(at []string, _ *yaml.Node) bool { return slices.Equal(at, path) })
}

// notFiniteAt returns the first number that JSON cannot express, and its line; "" if there is none.
func (d Document) notFiniteAt() (number string, line int) {
	line = d.lineWhere(func(_ []string, n *yaml.Node) bool {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!float" {
			return false
		}
		var f float64
		if n.Decode(&f) != nil || f-f == 0 {
			return false
		}
		number = n.Value
		return true
	})
	return number, line
}

// lineWhere returns the line of the first value that matches, or of the first content. It reads the document again,
// since reading it with the places takes longer, and only errors need these.
func (d Document) lineWhere(matches func(path []string, n *yaml.Node) bool) int {
	var root yaml.Node
	if yaml.Unmarshal([]byte(d.Text), &root) != nil {
		return d.FirstLine()
	}
	var walk func(path []string, n *yaml.Node) int
	walk = func(path []string, n *yaml.Node) int {
		if matches(path, n) {
			return d.Line + n.Line - 1
		}
		line := 0
		switch n.Kind {
		case yaml.DocumentNode:
			for _, c := range n.Content {
				line = max(line, walk(path, c))
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content) && line == 0; i += 2 {
				line = walk(append(slices.Clip(path), n.Content[i].Value), n.Content[i+1])
			}
		case yaml.SequenceNode:
			for i := 0; i < len(n.Content) && line == 0; i++ {
				line = walk(append(slices.Clip(path), strconv.Itoa(i)), n.Content[i])
			}
		case yaml.ScalarNode, yaml.AliasNode, yaml.StreamNode: // they hold no further values
		}
		return line
	}
	if line := walk(nil, &root); line > 0 {
		return line
	}
	return d.FirstLine()
}
