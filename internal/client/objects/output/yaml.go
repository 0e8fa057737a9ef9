package output

import (
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/base/yamltext"
)

// inYAML gives objects to a printer of YAML as documents that it can read, whatever characters they have.
type inYAML struct{ to printers.ResourcePrinter }

// PrintObj implements printers.ResourcePrinter.
func (p *inYAML) PrintObj(o runtime.Object, w io.Writer) error {
	doc, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return p.to.PrintObj(&runtime.Unknown{Raw: yamltext.Readable(doc)}, w)
}
