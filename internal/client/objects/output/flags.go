// Package output prints objects: as tables for people, and for scripts as JSON, YAML, names, or by templates, JSON paths and
// custom columns.
package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Flags configure how objects are printed.
type Flags struct {
	// Output is the format, with its argument, if any, after "=": "jsonpath={.spec}".
	Output string
	// Template is the template of the formats that need one.
	Template string
	// AllowMissing treats missing keys as empty in templates and paths.
	AllowMissing bool
	// ShowManagedFields keeps metadata.managedFields.
	ShowManagedFields bool
	Table             TableFlags
	tables            bool
}

// TableFlags configure how tables are printed.
type TableFlags struct {
	NoHeaders, ShowLabels, ShowKind, Events bool
	// LabelColumns are labels that are shown in columns of their own.
	LabelColumns []string
	// SortBy is the JSON path of the field that tables and lists are sorted by.
	SortBy string
}

// The formats in which objects are printed, and the additional formats of tables.
var (
	formats = []string{"json", "yaml", "kyaml", "name", "go-template", "go-template-file", "template", "templatefile", "jsonpath",
		"jsonpath-as-json", "jsonpath-file"}
	tableFormats = []string{"wide", "custom-columns", "custom-columns-file"}
)

// Formats returns the formats that the flags accept.
func (f *Flags) Formats() []string {
	if f.tables {
		return append(slices.Clone(formats), tableFormats...)
	}
	return formats
}

// Add adds the flags of verbs that print objects.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Output, "output", "o", "", "format: "+strings.Join(f.Formats(), ", "))
	flags.StringVar(&f.Template, "template", "", "template, or the path of one, for -o go-template and go-template-file")
	flags.BoolVar(&f.AllowMissing, "allow-missing-template-keys", true, "treat missing keys as empty in templates and JSON paths")
	flags.BoolVar(&f.ShowManagedFields, "show-managed-fields", false, "keep metadata.managedFields in JSON and YAML")
}

// AddTable adds the flags for verbs that can also print tables.
func (f *Flags) AddTable(flags *pflag.FlagSet) {
	f.tables = true
	f.Add(flags)
	t := &f.Table
	flags.BoolVar(&t.NoHeaders, "no-headers", false, "leave out the column headers")
	flags.BoolVar(&t.ShowLabels, "show-labels", false, "show all labels in the last column")
	flags.BoolVar(&t.ShowKind, "show-kind", false, "show the kind before each name")
	flags.StringSliceVarP(&t.LabelColumns, "label-columns", "L", nil, "labels to show as columns, separated by commas")
	flags.StringVar(&t.SortBy, "sort-by", "", "JSON path of the field to sort by: {.metadata.name}")
	flags.BoolVar(&t.Events, "output-watch-events", false, "with --watch, add a column that shows whether an object was added, modified or deleted")
}

// IsTable reports whether tables are requested.
func (f *Flags) IsTable() bool { return f.Output == "" || f.tables && f.Output == "wide" }

// Printer returns a printer of single objects, and of lists of them, for a format other than a table. "" is the same as
// "name".
func (f *Flags) Printer() (printers.ResourcePrinter, error) {
	format, of, _ := strings.Cut(f.Output, "=")
	if of == "" {
		of = f.Template
	}
	var p printers.ResourcePrinter
	switch format {
	case "json":
		p = &printers.JSONPrinter{}
	case "yaml":
		p = &inYAML{&printers.YAMLPrinter{}}
	case "kyaml":
		p = &inYAML{&printers.KYAMLPrinter{}}
	case "name", "":
		return &printers.NamePrinter{ShortOutput: true}, nil
	default:
		return f.templated(format, of)
	}
	if !f.ShowManagedFields {
		p = &printers.OmitManagedFieldsPrinter{Delegate: p}
	}
	return p, nil
}

// templated returns the printer of a format that needs a template.
func (f *Flags) templated(format, of string) (printers.ResourcePrinter, error) {
	if !slices.Contains(f.Formats(), format) {
		return nil, problem.New(fmt.Sprintf("unknown output %q", format), "choose one of: "+strings.Join(f.Formats(), ", "))
	}
	if of == "" {
		return nil, problem.New(fmt.Sprintf("-o %s needs an argument", format), "for example: "+examples[format])
	}
	text, err := content(format, of)
	if err != nil {
		return nil, err
	}
	p, err := f.compile(format, text)
	if err != nil {
		return nil, problem.Wrap(err, fmt.Sprintf("-o %s cannot be understood", f.Output), "for example: "+examples[format])
	}
	return p, nil
}

func (f *Flags) compile(format, text string) (printers.ResourcePrinter, error) {
	switch {
	case strings.HasPrefix(format, "custom-columns"):
		return newColumns(text, format == "custom-columns-file", f.Table.NoHeaders)
	case strings.HasPrefix(format, "jsonpath"):
		p, err := printers.NewJSONPathPrinter(text)
		if err != nil {
			return nil, err
		}
		p.AllowMissingKeys(f.AllowMissing)
		p.EnableJSONOutput(format == "jsonpath-as-json")
		return p, nil
	}
	return newGoTemplate(text, f.AllowMissing)
}

// examples show the formats that need an argument.
var examples = map[string]string{
	"go-template":         "-o go-template='{{.metadata.name}}'",
	"go-template-file":    "-o go-template-file=PATH",
	"template":            "-o template='{{.metadata.name}}'",
	"templatefile":        "-o templatefile=PATH",
	"jsonpath":            "-o jsonpath='{.status.updateStatus}'",
	"jsonpath-as-json":    "-o jsonpath-as-json='{.status}'",
	"jsonpath-file":       "-o jsonpath-file=PATH",
	"custom-columns":      "-o custom-columns=NAME:.metadata.name,STATUS:.status.updateStatus",
	"custom-columns-file": "-o custom-columns-file=PATH",
}
