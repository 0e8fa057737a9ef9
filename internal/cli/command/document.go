package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
)

// AddDocumentFlag adds -o to a command that prints one document for programs, or a page for people.
func AddDocumentFlag(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", "", "format for programs: json, yaml")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{OutputJSON, OutputYAML}, cobra.ShellCompDirectiveNoFileComp))
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
