package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
)

// documentFlag is the value of -o of a command that prints a document.
type documentFlag struct {
	output    *string
	documents []any
}

// String, Set and Type implement pflag.Value.
func (f *documentFlag) String() string {
	if f.output == nil {
		return ""
	}
	return *f.output
}

func (f *documentFlag) Set(text string) error { *f.output = text; return nil }
func (f *documentFlag) Type() string          { return "string" }

// AddDocumentFlag adds -o to a command that prints one document for programs, or a page for people. documents are values of the types that
// it may print: one, or one for each kind of arguments.
func AddDocumentFlag(c *cobra.Command, output *string, documents ...any) {
	AddFormatFlag(c, output, nil, documents...)
}

// AddFormatFlag is AddDocumentFlag for a command that has further formats.
func AddFormatFlag(c *cobra.Command, output *string, further []string, documents ...any) {
	formats := append([]string{OutputJSON, OutputYAML}, further...)
	c.Flags().VarP(&documentFlag{output, documents}, "output", "o", "format for programs: "+strings.Join(formats, ", "))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// DocumentWriter returns a function that writes a document in the requested format; nil if none was requested.
func DocumentWriter(output, command string) (func(io.Writer, any) error, error) {
	switch output {
	case "":
		return nil, nil
	case OutputJSON:
		return WriteJSON, nil
	case OutputYAML:
		return WriteYAML, nil
	}
	return nil, problem.New(fmt.Sprintf("unknown output %q", output), "choose json or yaml, or leave it out: hone "+command+" -o json")
}

// Documents returns values of the types of the documents that a command prints; none for a command without AddDocumentFlag.
func Documents(c *cobra.Command) []any {
	f := c.Flags().Lookup("output")
	if f == nil {
		return nil
	}
	d, ok := f.Value.(*documentFlag)
	if !ok {
		return nil
	}
	return d.documents
}

// WriteJSON writes a document as indented JSON.
func WriteJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// WriteYAML writes a document as YAML.
func WriteYAML(w io.Writer, doc any) error {
	text, err := yamltext.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// YAMLLines turns each line of JSON that is written to it into a YAML document on Out.
type YAMLLines struct {
	Out io.Writer
	// rest is the beginning of a line.
	rest []byte
}

var _ io.Writer = (*YAMLLines)(nil)

// Write implements io.Writer.
func (y *YAMLLines) Write(p []byte) (int, error) {
	y.rest = append(y.rest, p...)
	for {
		line, rest, whole := bytes.Cut(y.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		text, err := yamltext.FromJSON(line)
		if err != nil {
			return 0, fmt.Errorf("write as YAML: %w", err)
		}
		y.rest = rest
		if _, err := y.Out.Write(append([]byte("---\n"), text...)); err != nil {
			return 0, err
		}
	}
}

// UnknownStreamFormat returns the error for an unknown format of a command that prints one document after the other.
func UnknownStreamFormat(output string) error {
	return problem.New(fmt.Sprintf("unknown output %q", output), "choose text, json for one object per line, or yaml for one document after the other")
}

// InYAML lets a function write JSON, and writes that as YAML.
func InYAML(out io.Writer, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	text, err := yamltext.FromJSON(b.Bytes())
	if err != nil {
		return fmt.Errorf("write as YAML: %w", err)
	}
	_, err = out.Write(text)
	return err
}

// The formats of a result.
const (
	OutputTable = "table"
	OutputJSON  = "json"
	OutputYAML  = "yaml"
)
