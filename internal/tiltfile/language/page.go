package language

import (
	"fmt"
	"io"
	"strings"
)

// WritePage writes the reference of the whole language as one Markdown page.
func WritePage(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# The Tiltfile language

<!-- Generated from pages/*.md: edit those, then run make generate. -->

A Tiltfile is a program in Starlark, which is much like Python. Each name below can be used in it. A ` + "`path`" + ` is text that
names a file or folder, relative to the folder of the running file; a ` + "`blob`" + ` is text that is content.
`)
	for _, c := range Chapters() {
		var links []string
		for _, e := range c.Entries {
			links = append(links, fmt.Sprintf("[%s](#%s)", code(e.title()), anchor(e.title())))
		}
		fmt.Fprintf(&b, "\n**%s**: %s\n", c.Title, strings.Join(links, " "))
	}
	for _, c := range Chapters() {
		fmt.Fprintf(&b, "\n## %s\n", c.Title)
		if c.Text != "" {
			fmt.Fprintf(&b, "\n%s\n", c.Text)
		}
		for _, e := range c.Entries {
			fmt.Fprintf(&b, "\n### %s\n\n%s", code(e.title()), e.Markdown())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title is the heading of an entry.
func (e *Entry) title() string {
	if e.Of != "" {
		return e.Of + "." + e.Name
	}
	return e.Name
}

func code(s string) string { return "`" + s + "`" }

// anchor returns the fragment of a URL by which the usual forges link to a heading.
func anchor(heading string) string {
	return strings.ToLower(strings.ReplaceAll(heading, ".", ""))
}
