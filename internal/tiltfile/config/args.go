package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fromArgs reads settings from the command line: "--name=value", "--name value", "--flag" for bools. Other arguments,
// and all after "--", belong to the positional setting.
func (f *flags) fromArgs(args []string) (map[string]any, error) {
	values := map[string]any{}
	var rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		d := f.defs[name]
		if d == nil || name == f.positional {
			return nil, fmt.Errorf("there is no setting --%s%s", name, f.hint(name))
		}
		if !hasValue && d.kind == kindBool {
			value, hasValue = "true", true
		}
		if !hasValue {
			if i++; i == len(args) {
				return nil, fmt.Errorf("setting --%s needs a value", name)
			}
			value = args[i]
		}
		if err := d.set(values, value); err != nil {
			return nil, fmt.Errorf("setting --%s: %w", name, err)
		}
	}
	if len(rest) > 0 && f.positional == "" {
		return nil, fmt.Errorf("argument %q belongs to no setting: none takes positional arguments (args=True)", rest[0])
	}
	for _, r := range rest {
		if err := f.defs[f.positional].set(values, r); err != nil {
			return nil, fmt.Errorf("%s: %w", f.positional, err)
		}
	}
	return values, nil
}

// set takes one value from the command line. A list may be given several times and grows; any other setting only once.
func (d *flagDef) set(values map[string]any, value string) error {
	if d.kind == kindStringList {
		list, _ := values[d.name].([]any)
		values[d.name] = append(list, value)
		return nil
	}
	if _, twice := values[d.name]; twice {
		return fmt.Errorf("it is given twice, and is not a list")
	}
	switch d.kind {
	case kindBool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		values[d.name] = b
	case kindObject:
		dec := json.NewDecoder(strings.NewReader(value))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("%q is not JSON: %w", value, err)
		}
		values[d.name] = v
	default:
		values[d.name] = value
	}
	return nil
}
