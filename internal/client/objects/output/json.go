package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// asPrinted are the options with which jsontext writes JSON like the printer of -o json.
var asPrinted = []jsontext.Options{
	jsontext.ReorderRawObjects(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true),
	jsontext.Multiline(true), jsontext.WithIndent("    "),
}

// The tokens of a list around its items, as in newList.
var (
	listHead = []jsontext.Token{jsontext.BeginObject, jsontext.String("apiVersion"), jsontext.String("v1"), jsontext.String("items"), jsontext.BeginArray}
	listTail = []jsontext.Token{jsontext.EndArray, jsontext.String("kind"), jsontext.String("List"), jsontext.String("metadata"),
		jsontext.BeginObject, jsontext.String("resourceVersion"), jsontext.String(""), jsontext.EndObject, jsontext.EndObject}
)

// format returns the output of the -o json printer for a single document, or for any number of documents as a list. It only
// copies text, while the printer needs decoded documents, and decoding is most of the work. ok is false, and the documents are
// left to the printer, if the printer's output might differ or a document is not valid JSON.
func format(docs []jsontext.Value, single bool) (text []byte, ok bool) {
	size := 1 << 10
	for _, d := range docs {
		size += 3 * len(d) // approximately, with the spaces
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	e := jsontext.NewEncoder(b, asPrinted...)
	write := writeList
	if single {
		write = writeOne
	}
	if write(e, docs) != nil {
		return nil, false // also for duplicate names and invalid UTF-8
	}
	text = b.Bytes()
	if bytes.Contains(text, []byte(`"managedFields": `)) { // which the printer may have to omit
		return nil, false
	}
	return text, settled(text)
}

func writeOne(e *jsontext.Encoder, docs []jsontext.Value) error { return e.WriteValue(docs[0]) }

func writeList(e *jsontext.Encoder, docs []jsontext.Value) error {
	var errs []error
	for _, t := range listHead {
		errs = append(errs, e.WriteToken(t))
	}
	for _, d := range docs {
		errs = append(errs, e.WriteValue(d))
	}
	for _, t := range listTail {
		errs = append(errs, e.WriteToken(t))
	}
	return errors.Join(errs...)
}

// settled reports whether decoding and encoding would leave a formatted document unchanged: its numbers are written as
// encoding/json writes them, and its names are in order. jsontext compares names by UTF-16 units, encoding/json by bytes: they
// disagree about characters outside the Basic Multilingual Plane.
func settled(text []byte) bool {
	astral := isAstral(text)
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, ",\n")
		if end := line[len(line)-1]; '0' <= end && end <= '9' && !kept(line[bytes.LastIndexByte(line, ' ')+1:]) {
			return false
		}
		if !astral {
			continue
		}
		if name, _, named := bytes.Cut(line, []byte(`": `)); named && isAstral(name) {
			return false
		}
	}
	return true
}

// isAstral reports whether a text has characters outside the Basic Multilingual Plane.
func isAstral(text []byte) bool {
	for lead := byte(0xf0); lead <= 0xf4; lead++ {
		if bytes.IndexByte(text, lead) >= 0 {
			return true
		}
	}
	return false
}

// kept reports whether decoding and encoding would leave the text of a number unchanged.
func kept(number []byte) bool {
	if i, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return string(number) == strconv.FormatInt(i, 10)
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return false
	}
	again, err := json.Marshal(f)
	return err == nil && bytes.Equal(number, again)
}
