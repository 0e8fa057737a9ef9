package snapshot

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/hone-dev/hone/internal/api/redact"
)

// document writes a JSON document piece by piece, one value per line. After the first error, all further writes fail with the
// same error.
type document struct {
	w        *bufio.Writer
	redactor *redact.Redactor
	// ends are the closing brackets of the open values, and more is, for each, whether it already has a member.
	ends []byte
	more []bool
	err  error
}

// begin opens an object.
func begin(w io.Writer, r *redact.Redactor) *document {
	d := &document{w: bufio.NewWriterSize(w, 32<<10), redactor: r}
	d.open("", '{', '}')
	return d
}

func (d *document) open(name string, bracket, end byte) {
	d.next(name)
	d.put([]byte{bracket})
	d.ends, d.more = append(d.ends, end), append(d.more, false)
}

func (d *document) object(name string) { d.open(name, '{', '}') }
func (d *document) list(name string)   { d.open(name, '[', ']') }

// close closes the value that was opened last.
func (d *document) close() {
	n := len(d.ends) - 1
	if d.more[n] {
		d.put([]byte("\n"))
	}
	d.put(d.ends[n:])
	d.ends, d.more = d.ends[:n], d.more[:n]
}

// value writes a value without secrets. In a list, name is empty.
func (d *document) value(name string, v any) {
	if d.err != nil {
		return
	}
	doc, err := json.Marshal(v)
	if err != nil {
		d.err = err
		return
	}
	d.next(name)
	d.put(d.redactor.JSON(doc))
}

// next begins a member of the innermost open value.
func (d *document) next(name string) {
	if n := len(d.more) - 1; n >= 0 {
		if d.more[n] {
			d.put([]byte(","))
		}
		d.more[n] = true
		d.put([]byte("\n"))
	}
	if name != "" {
		quoted, _ := json.Marshal(name) // a string can always be encoded
		d.put(append(quoted, ": "...))
	}
}

func (d *document) put(b []byte) {
	if d.err == nil {
		_, d.err = d.w.Write(b)
	}
}

// end closes everything.
func (d *document) end() error {
	for len(d.ends) > 0 {
		d.close()
	}
	d.put([]byte("\n"))
	if d.err == nil {
		d.err = d.w.Flush()
	}
	return d.err
}
