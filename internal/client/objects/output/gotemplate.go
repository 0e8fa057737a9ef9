package output

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
)

// goTemplate prints objects by a Go template. It is text/template without calls of methods, which an object of JSON does not have: they
// would keep every method of every type in the program.
type goTemplate struct{ t *template.Template }

var _ printers.ResourcePrinter = (*goTemplate)(nil)

// newGoTemplate reads a template, which has the functions of kubectl's.
func newGoTemplate(text string, allowMissing bool) (*goTemplate, error) {
	missing := "missingkey=error"
	if allowMissing {
		missing = "missingkey=default"
	}
	t, err := template.New("output").Option(missing).Funcs(template.FuncMap{"exists": exists, "base64decode": decode64}).Parse(text)
	if err != nil {
		return nil, err
	}
	return &goTemplate{t}, nil
}

// PrintObj implements printers.ResourcePrinter. A template that fails prints nothing.
func (p *goTemplate) PrintObj(obj runtime.Object, out io.Writer) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.t.Execute(&b, value); err != nil {
		return fmt.Errorf("-o go-template: %w", err)
	}
	_, err = b.WriteTo(out)
	return err
}

// exists reports whether there is a value below the keys and indices.
func exists(of any, path ...any) bool {
	for _, at := range path {
		switch v := of.(type) {
		case map[string]any:
			key, _ := at.(string)
			next, ok := v[key]
			if !ok {
				return false
			}
			of = next
		case []any:
			i, ok := at.(int)
			if !ok || i < 0 || i >= len(v) {
				return false
			}
			of = v[i]
		default:
			return false
		}
	}
	return of != nil
}

func decode64(text string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	return string(data), err
}
