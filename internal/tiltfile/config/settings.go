package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

// flags are the settings that the Tiltfile defines with config.define_….
type flags struct {
	defs       map[string]*flagDef
	order      []string
	positional string
	parsed     bool
}

// flagKind is the type of a setting.
type flagKind string

const (
	kindString     flagKind = "string"
	kindStringList flagKind = "list of strings"
	kindBool       flagKind = "bool"
	kindObject     flagKind = "object"
)

// flagDef is one setting.
type flagDef struct {
	name  string
	kind  flagKind
	usage string
}

// define returns the builtin that defines settings of a kind.
func (d *Declarations) define(kind flagKind) eval.Function {
	return func(c *eval.Call) (starlark.Value, error) {
		def := &flagDef{kind: kind}
		var args bool
		if err := c.Unpack("name", &def.name, "args??", &args, "usage??", &def.usage); err != nil {
			return nil, err
		}
		f := &d.flags
		switch {
		case def.name == "":
			return nil, errors.New("the name of the setting is empty")
		case f.parsed:
			return nil, fmt.Errorf("setting %q must be defined before config.parse is called", def.name)
		case f.defs[def.name] != nil:
			return nil, fmt.Errorf("setting %q is defined twice", def.name)
		case args && f.positional != "":
			return nil, fmt.Errorf("both %q and %q take the positional arguments (args=True)", f.positional, def.name)
		}
		if args {
			f.positional = def.name
		}
		f.defs[def.name] = def
		f.order = append(f.order, def.name)
		return nil, nil
	}
}

func (d *Declarations) parse(c *eval.Call) (starlark.Value, error) {
	if err := c.Unpack(); err != nil {
		return nil, err
	}
	d.flags.parsed = true
	path := filepath.Join(c.Dir(), "tilt_config.json")
	data, err := c.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	values := map[string]any{}
	if err == nil {
		if values, err = d.flags.fromFile(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	given, err := d.flags.fromArgs(d.args)
	if err != nil {
		p := problem.New(err.Error(), "")
		p.Detail = d.flags.help()
		return nil, &fault.ArgsError{Err: p}
	}
	out := starlark.NewDict(len(values))
	for _, name := range d.flags.order {
		v, ok := given[name]
		if !ok {
			if v, ok = values[name]; !ok {
				continue
			}
		}
		sv, err := value.FromJSON(v)
		if err != nil {
			return nil, err
		}
		if err := out.SetKey(starlark.String(name), sv); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fromFile reads the settings in a tilt_config.json.
func (f *flags) fromFile(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil {
		return nil, value.JSONError(data, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		d := f.defs[name]
		if d == nil {
			return nil, fmt.Errorf("there is no setting %q%s", name, f.hint(name))
		}
		v, ok := d.convert(values[name])
		if !ok {
			return nil, fmt.Errorf("setting %q must be a %s", name, d.kind)
		}
		values[name] = v
	}
	return values, nil
}

// convert checks the type of a value from JSON.
func (d *flagDef) convert(v any) (any, bool) {
	switch d.kind {
	case kindString:
		_, ok := v.(string)
		return v, ok
	case kindBool:
		_, ok := v.(bool)
		return v, ok
	case kindStringList:
		list, ok := v.([]any)
		for _, e := range list {
			if _, isText := e.(string); !isText {
				return nil, false
			}
		}
		return v, ok
	case kindObject: // takes any value
	}
	return v, true
}

func (f *flags) hint(name string) string {
	if len(f.order) == 0 {
		return "; no settings are defined"
	}
	if h := hint.DidYouMean(name, f.order); h != "" {
		return h
	}
	return "; the defined settings are " + strings.Join(f.order, ", ")
}

// help lists the settings as they are written after "--".
func (f *flags) help() string {
	if len(f.order) == 0 {
		return "this Tiltfile defines no settings"
	}
	var b strings.Builder
	b.WriteString("this Tiltfile takes:\n")
	for _, name := range f.order {
		d := f.defs[name]
		form := "--" + name
		switch {
		case name == f.positional:
			form = name + "…"
		case d.kind != kindBool:
			form += " VALUE"
		}
		fmt.Fprintf(&b, "  %-24s %s\n", form, d.usage)
	}
	return b.String()
}

func (d *Declarations) setEnabled(c *eval.Call) (starlark.Value, error) {
	var names value.Texts
	if err := c.Unpack("resources", &names); err != nil {
		return nil, err
	}
	d.enabledByCall, d.enabledSite = true, c.Site()
	d.enabledNames, d.enableAll = value.AppendNew(nil, names.Values), len(names.Values) == 0
	return nil, nil
}

func (d *Declarations) clearEnabled(c *eval.Call) (starlark.Value, error) {
	if err := c.Unpack(); err != nil {
		return nil, err
	}
	d.enabledByCall, d.enabledSite, d.enabledNames, d.enableAll = true, c.Site(), nil, false
	return nil, nil
}
