// Package yamlstream splits a stream of YAML into documents and converts them to JSON. Errors name document and line.
package yamlstream

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Document is one document of a YAML stream.
type Document struct {
	// Index counts the documents of the stream from 1; Line is the line where the text begins.
	Index, Line int
	Text        string
}

// Split splits a stream at its document markers. Documents without content are left out.
func Split(stream string) []Document {
	var docs []Document
	stream = strings.TrimPrefix(stream, "\ufeff")
	start, startLine, index := 0, 1, 0
	cut := func(end int) {
		if body := stream[start:end]; hasContent(body) {
			index++
			docs = append(docs, Document{index, startLine, body})
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
			// The rest of the marker's line belongs to the document.
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

// hasContent reports whether a document has more than blanks, comments and directives.
func hasContent(doc string) bool {
	for line := range strings.SplitSeq(doc, "\n") {
		if l := strings.TrimSpace(line); l != "" && l[0] != '#' && line[0] != '%' {
			return true
		}
	}
	return false
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// JSON converts the document to JSON with sorted keys. The error names source, document and line.
func (d Document) JSON(source string) ([]byte, error) {
	data, err := yamlToJSON(d.Text)
	if err == nil {
		return data, nil
	}
	if unsupported := (*json.UnsupportedValueError)(nil); errors.As(err, &unsupported) {
		number, line := d.notFiniteAt()
		return nil, fmt.Errorf("%s%s is a number that JSON does not have; put it in quotes if it is a text", d.At(source, line), cmp.Or(number, unsupported.Str))
	}
	line, msg := d.Line, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(msg); m != nil {
		n, _ := strconv.Atoi(msg[m[2]:m[3]])
		line, msg = d.Line+n-1, msg[m[1]:]
	}
	return nil, errors.New(d.At(source, line) + msg)
}

// At describes a line of the document for a message.
func (d Document) At(source string, line int) string {
	if source == "" {
		source = "YAML"
	}
	return fmt.Sprintf("%s, document %d, line %d: ", source, d.Index, line)
}

// FirstLine is the line of the first content.
func (d Document) FirstLine() int {
	n := d.Line
	for line := range strings.SplitSeq(d.Text, "\n") {
		if hasContent(line) {
			return n
		}
		n++
	}
	return d.Line
}
