package tiltfile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// document is one document of a YAML stream.
type document struct {
	// index counts the documents of the stream from 1, line is where the text begins.
	index, line int
	text        string
}

// splitYAML cuts a stream at its document markers. Documents without content are left out, but counted when they stand
// between markers.
func splitYAML(stream string) []document {
	var docs []document
	stream = strings.TrimPrefix(stream, "\ufeff")
	start, startLine, index := 0, 1, 0
	cut := func(end int) {
		if body := stream[start:end]; hasContent(body) {
			index++
			docs = append(docs, document{index, startLine, body})
		}
	}
	pos := 0
	for line := 1; pos < len(stream); line++ {
		end := len(stream)
		if i := strings.IndexByte(stream[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		switch l := stream[pos:end]; {
		case isMarker(l, "---"):
			cut(pos)
			// What follows the marker on its line belongs to the document.
			start, startLine = pos+3, line
		case isMarker(l, "..."):
			cut(pos)
			start, startLine = end, line+1
		}
		pos = end
	}
	cut(len(stream))
	return docs
}

func isMarker(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// hasContent reports whether there is more than blanks, comments and directives.
func hasContent(doc string) bool {
	for line := range strings.SplitSeq(doc, "\n") {
		if l := strings.TrimSpace(line); l != "" && l[0] != '#' && line[0] != '%' {
			return true
		}
	}
	return false
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// json converts the document to JSON with sorted keys. The error names source, document and line.
func (d document) json(source string) ([]byte, error) {
	data, err := yamlToJSON(d.text)
	if err == nil {
		return data, nil
	}
	line, msg := d.line, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(msg); m != nil {
		n, _ := strconv.Atoi(msg[m[2]:m[3]])
		line, msg = d.line+n-1, msg[m[1]:]
	}
	return nil, errors.New(d.at(source, line) + msg)
}

// at describes a line of the document for a message.
func (d document) at(source string, line int) string {
	if source == "" {
		source = "YAML"
	}
	return fmt.Sprintf("%s, document %d, line %d: ", source, d.index, line)
}

// firstLine is the line of the first content.
func (d document) firstLine() int {
	n := d.line
	for line := range strings.SplitSeq(d.text, "\n") {
		if hasContent(line) {
			return n
		}
		n++
	}
	return d.line
}
