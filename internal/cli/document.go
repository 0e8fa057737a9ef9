package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
)

// addDocumentFlag adds -o to a command that prints one document for programs, or a page for people.
func addDocumentFlag(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", "", "format for programs: json, yaml")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputJSON, outputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

// documentWriter returns what writes a document in the format that was asked for; nil when none was.
func documentWriter(output, command string) (func(io.Writer, any) error, error) {
	switch output {
	case "":
		return nil, nil
	case outputJSON:
		return writeJSON, nil
	case outputYAML:
		return writeYAML, nil
	}
	return nil, problem.New(fmt.Sprintf("unknown output %q", output), "choose json or yaml, or leave it out: hone "+command+" -o json")
}

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

func writeYAML(w io.Writer, doc any) error {
	text, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// yamlLines makes of each line of JSON that is written to it a document of YAML.
type yamlLines struct {
	out io.Writer
	// rest is the beginning of a line.
	rest []byte
}

var _ io.Writer = (*yamlLines)(nil)

// Write implements io.Writer.
func (y *yamlLines) Write(p []byte) (int, error) {
	y.rest = append(y.rest, p...)
	for {
		line, rest, whole := bytes.Cut(y.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		text, err := yaml.JSONToYAML(line)
		if err != nil {
			return 0, fmt.Errorf("write as YAML: %w", err)
		}
		y.rest = rest
		if _, err := y.out.Write(append([]byte("---\n"), text...)); err != nil {
			return 0, err
		}
	}
}

// errStreamFormat refuses a format of commands that print one document after the other.
func errStreamFormat(output string) error {
	return problem.New(fmt.Sprintf("unknown output %q", output), "choose text, json for one object per line, or yaml for one document after the other")
}

// inYAML lets a function write JSON, and writes that as YAML.
func inYAML(out io.Writer, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	text, err := yaml.JSONToYAML(b.Bytes())
	if err != nil {
		return fmt.Errorf("write as YAML: %w", err)
	}
	_, err = out.Write(text)
	return err
}

// The formats of a result.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)
