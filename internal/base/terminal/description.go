package terminal

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
)

// Description says what a terminal is.
type Description struct {
	// Term and ColorTerm are the terminal's TERM and COLORTERM.
	Term, ColorTerm string
	Columns, Rows   int
	// UTF8 is false for a terminal that shows ASCII only; NoColor is for people who want none.
	UTF8, NoColor bool
}

// maxSide bounds what a screen takes in memory, whatever a client says of itself.
const maxSide = 1000

// validTerm is what names of terminals look like: they are looked up in files, and by a program.
var validTerm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9+._-]{0,63}$`)

// encode writes the description as the query of a URL.
func (d Description) encode() []byte {
	q := url.Values{
		"term": {d.Term}, "colorterm": {d.ColorTerm}, "columns": {strconv.Itoa(d.Columns)}, "rows": {strconv.Itoa(d.Rows)},
		"utf8": {strconv.FormatBool(d.UTF8)}, "nocolor": {strconv.FormatBool(d.NoColor)},
	}
	return []byte(q.Encode())
}

// describe reads a description, and believes nothing.
func describe(hello []byte) (Description, error) {
	q, err := url.ParseQuery(string(hello))
	if err != nil {
		return Description{}, fmt.Errorf("read what the terminal is: %w", err)
	}
	d := Description{Term: q.Get("term"), ColorTerm: q.Get("colorterm"), UTF8: q.Get("utf8") == "true", NoColor: q.Get("nocolor") == "true"}
	if !validTerm.MatchString(d.Term) {
		return d, fmt.Errorf("%q is not the name of a terminal", d.Term)
	}
	if d.Columns, err = side(q.Get("columns")); err != nil {
		return d, err
	}
	d.Rows, err = side(q.Get("rows"))
	return d, err
}

// side reads a width or a height.
func side(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the size of a terminal", s)
	}
	return min(n, maxSide), nil
}
