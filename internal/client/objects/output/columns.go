package output

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// none is printed for a missing value.
const none = "<none>"

// columns prints a table whose columns are JSON paths.
type columns struct {
	heads []string
	paths []*jsonpath.JSONPath
	// headed is set once the headers have been printed, or if they must not be printed.
	headed bool
}

var _ printers.ResourcePrinter = (*columns)(nil)

// newColumns reads "HEAD:PATH,HEAD:PATH", or the text of a file whose first line has the headers and whose second line has the
// paths.
func newColumns(text string, file, headless bool) (*columns, error) {
	c := &columns{headed: headless}
	var paths []string
	if file {
		first, second, _ := strings.Cut(strings.TrimSpace(text), "\n")
		c.heads, paths = strings.Fields(first), strings.Fields(second)
		if len(c.heads) == 0 || len(c.heads) != len(paths) {
			return nil, fmt.Errorf("the first line has %d headers, the second has %d paths", len(c.heads), len(paths))
		}
	} else {
		for _, part := range strings.Split(text, ",") {
			head, path, ok := strings.Cut(part, ":")
			if !ok {
				return nil, fmt.Errorf("the column %q is not HEAD:PATH", part)
			}
			c.heads, paths = append(c.heads, head), append(paths, path)
		}
	}
	for _, path := range paths {
		p, err := ParsePath(path)
		if err != nil {
			return nil, err
		}
		c.paths = append(c.paths, p)
	}
	return c, nil
}

// ParsePath reads a JSON path. The braces and the first dot may be omitted.
func ParsePath(text string) (*jsonpath.JSONPath, error) {
	inner := strings.TrimSpace(text)
	if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
		inner = inner[1 : len(inner)-1]
	}
	if inner == "" {
		return nil, errors.New("the JSON path is empty")
	}
	if !strings.ContainsRune(".[$@", rune(inner[0])) {
		inner = "." + inner
	}
	p := jsonpath.New(text).AllowMissingKeys(true)
	if err := p.Parse("{" + inner + "}"); err != nil {
		return nil, fmt.Errorf("the JSON path %q: %w", text, err)
	}
	return p, nil
}

// PrintObj implements printers.ResourcePrinter.
func (c *columns) PrintObj(obj runtime.Object, out io.Writer) error {
	w := tabbed(out)
	if !c.headed {
		fmt.Fprintln(w, strings.Join(c.heads, "\t"))
		c.headed = true
	}
	objects := []runtime.Object{obj}
	if meta.IsListType(obj) {
		var err error
		if objects, err = meta.ExtractList(obj); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := c.row(o, w); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (c *columns) row(o runtime.Object, w io.Writer) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	cells := make([]string, len(c.paths))
	for i, p := range c.paths {
		if cells[i], err = cell(p, content); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, strings.Join(cells, "\t"))
	return err
}

func cell(p *jsonpath.JSONPath, content any) (string, error) {
	found, err := p.FindResults(content)
	if err != nil {
		return "", err
	}
	var values []string
	for _, group := range found {
		for _, v := range group {
			text := none
			if v.IsValid() && v.CanInterface() && v.Interface() != nil {
				text = fmt.Sprint(v.Interface())
			}
			values = append(values, text)
		}
	}
	if len(values) == 0 {
		return none, nil
	}
	return strings.Join(values, ","), nil
}
