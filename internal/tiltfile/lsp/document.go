package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"
)

// encoding is the unit in which the client counts characters in a line.
type encoding string

// The supported encodings; every client supports the second.
const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
)

// document is a text that the editor has open, or a file that such a text loads.
type document struct {
	uri string
	// path is the absolute path of the file; empty for a text that is not saved yet.
	path    string
	version int
	// unpacked is set for the Tiltfile of an extension that is part of hone.
	unpacked bool
	text     string
	// lines are the offsets at which lines begin.
	lines []int
	// scanned is the outline, made on first use.
	scanned *outline
	// parsed is the text as a program, or unparsed the error of the parser; one of them is set on first use.
	parsed   *program
	unparsed error
}

func newDocument(uri, path, text string) *document {
	d := &document{uri: uri, path: path}
	d.set(text)
	return d
}

// set replaces the text.
func (d *document) set(text string) {
	d.text, d.scanned, d.parsed, d.unparsed = text, nil, nil, nil
	d.lines = append(d.lines[:0], 0)
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
}

// outline returns the tokens and definitions of the text.
func (d *document) outline() *outline {
	if d.scanned == nil {
		d.scanned = newOutline(d.text)
	}
	return d.scanned
}

// apply applies a change. Positions beyond the text count as its end.
func (d *document) apply(c contentChange, e encoding) {
	if c.Range == nil {
		d.set(c.Text)
		return
	}
	from, to := d.offset(c.Range.Start, e), d.offset(c.Range.End, e)
	to = max(from, to)
	d.set(d.text[:from] + c.Text + d.text[to:])
}

// offset returns the byte offset of a position; positions beyond a line's end mean its end.
func (d *document) offset(p position, e encoding) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(d.lines):
		return len(d.text)
	}
	at, left := d.lines[p.Line], p.Character
	for left > 0 && at < len(d.text) && d.text[at] != '\n' {
		r, size := utf8.DecodeRuneInString(d.text[at:])
		if left -= units(r, size, e); left < 0 {
			break
		}
		at += size
	}
	if at > d.lines[p.Line] && at < len(d.text) && d.text[at] == '\n' && d.text[at-1] == '\r' {
		at--
	}
	return at
}

// position is the inverse of offset.
func (d *document) position(at int, e encoding) position {
	at = min(max(at, 0), len(d.text))
	line := lineOf(d.lines, at)
	p := position{Line: line}
	for i := d.lines[line]; i < at; {
		r, size := utf8.DecodeRuneInString(d.text[i:])
		p.Character += units(r, size, e)
		i += size
	}
	return p
}

// lineOf returns the index of the last line that starts at or before an offset; lines are sorted line starts.
func lineOf(lines []int, at int) int {
	low, high := 0, len(lines)
	for high-low > 1 {
		if mid := (low + high) / 2; lines[mid] <= at {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// units returns the length of a rune in the client's encoding.
func units(r rune, size int, e encoding) int {
	switch {
	case e == utf8Units:
		return size
	case r >= 0x10000:
		return 2
	}
	return 1
}

func (d *document) span(from, to int, e encoding) span {
	return span{d.position(from, e), d.position(to, e)}
}

// pathOf returns the path of a file: address, or "".
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.FromSlash(p)
}

// uriOf returns the address of a file.
func uriOf(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
