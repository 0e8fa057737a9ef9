package tiltfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"sigs.k8s.io/yaml"
)

func readJSONBuiltin(c *call) (starlark.Value, error) {
	return c.readData(func(content, path string) (starlark.Value, error) {
		v, err := decodeJSON([]byte(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return v, nil
	})
}

func readYAMLBuiltin(c *call) (starlark.Value, error) { return c.readData(c.decodeYAML) }

func readYAMLStreamBuiltin(c *call) (starlark.Value, error) {
	return c.readData(func(content, path string) (starlark.Value, error) {
		docs, err := c.decodeYAMLStream(content, path)
		return starlark.NewList(docs), err
	})
}

// readData reads and decodes a file, or returns the default in its place.
func (c *call) readData(decode func(content, path string) (starlark.Value, error)) (starlark.Value, error) {
	var path string
	var fallback starlark.Value
	// None is a proper default here, so the argument is not marked as skipping None.
	if err := c.unpack("path", &path, "default?", &fallback); err != nil {
		return nil, err
	}
	content, found, err := c.contents(path, fallback)
	if err != nil || !found {
		return fallback, err
	}
	return decode(content, c.abs(path))
}

func decodeJSONBuiltin(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("json", &in); err != nil {
		return nil, err
	}
	c.learnSecrets(in.value)
	return decodeJSON([]byte(in.value))
}

func decodeYAMLBuiltin(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.learnSecrets(in.value)
	return c.decodeYAML(in.value, in.source)
}

func decodeYAMLStreamBuiltin(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.learnSecrets(in.value)
	docs, err := c.decodeYAMLStream(in.value, in.source)
	return starlark.NewList(docs), err
}

func encodeJSONBuiltin(c *call) (starlark.Value, error) {
	var obj starlark.Value
	if err := c.unpack("obj", &obj); err != nil {
		return nil, err
	}
	v, err := fromStarlark(obj)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	err = enc.Encode(v)
	c.learnSecrets(out.String())
	return &blob{out.String(), "encode_json"}, err
}

func encodeYAMLBuiltin(c *call) (starlark.Value, error) {
	var obj starlark.Value
	if err := c.unpack("obj", &obj); err != nil {
		return nil, err
	}
	out, err := encodeYAML(obj)
	c.learnSecrets(out)
	return &blob{out, "encode_yaml"}, err
}

func encodeYAMLStreamBuiltin(c *call) (starlark.Value, error) {
	var objs starlark.Iterable
	if err := c.unpack("objs", &objs); err != nil {
		return nil, err
	}
	var docs []string
	for _, v := range elements(objs) {
		doc, err := encodeYAML(v)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	out := strings.Join(docs, "---\n")
	c.learnSecrets(out)
	return &blob{out, "encode_yaml_stream"}, nil
}

func encodeYAML(v starlark.Value) (string, error) {
	data, err := fromStarlark(v)
	if err != nil {
		return "", err
	}
	out, err := yaml.Marshal(data)
	return string(out), err
}

// decodeYAML takes a single document; no document at all is None.
func (c *call) decodeYAML(content, source string) (starlark.Value, error) {
	docs, err := c.decodeYAMLStream(content, source)
	switch {
	case err != nil:
		return nil, err
	case len(docs) == 0:
		return starlark.None, nil
	case len(docs) > 1:
		return nil, errors.New("there are several documents (separated by ---); decode_yaml_stream and read_yaml_stream take them")
	}
	return docs[0], nil
}

func (c *call) decodeYAMLStream(content, source string) ([]starlark.Value, error) {
	var out []starlark.Value
	for _, doc := range splitYAML(content) {
		data, err := remembered(c.state, memoKey{kind: memoJSON, content: strings.Clone(doc.text)}, func() ([]byte, error) { return doc.json(source) })
		if err != nil {
			return nil, err
		}
		v, err := decodeJSON(data)
		if err != nil {
			return nil, err
		}
		if v != starlark.None {
			out = append(out, v)
		}
	}
	return out, nil
}

// decodeJSON keeps whole numbers whole, of any size.
func decodeJSON(data []byte) (starlark.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, jsonError(data, err)
	}
	if _, err := dec.Token(); err == nil {
		return nil, errors.New("there is more after the end of the JSON value")
	}
	return toStarlark(v)
}

// jsonError adds the line to a syntax error.
func jsonError(data []byte, err error) error {
	var syn *json.SyntaxError
	if errors.As(err, &syn) && syn.Offset <= int64(len(data)) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:syn.Offset], []byte("\n")), err)
	}
	return fmt.Errorf("read JSON: %w", err)
}

func toStarlark(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(v), nil
	case string:
		return starlark.String(v), nil
	case json.Number:
		if len(v) > mostDigits {
			return nil, fmt.Errorf("there is a number of %d digits; the most is %d", len(v), mostDigits)
		}
		if i, ok := new(big.Int).SetString(v.String(), 10); ok {
			return starlark.MakeBigInt(i), nil
		}
		f, err := v.Float64()
		return starlark.Float(f), err
	case []any:
		list := make([]starlark.Value, len(v))
		for i, e := range v {
			var err error
			if list[i], err = toStarlark(e); err != nil {
				return nil, err
			}
		}
		return starlark.NewList(list), nil
	case map[string]any:
		return dictToStarlark(v)
	}
	return nil, fmt.Errorf("cannot represent a %T", v)
}

func dictToStarlark(m map[string]any) (starlark.Value, error) {
	d := starlark.NewDict(len(m))
	for _, k := range sortedKeys(m) {
		e, err := toStarlark(m[k])
		if err != nil {
			return nil, err
		}
		if err := d.SetKey(starlark.String(k), e); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// fromStarlark is the inverse of toStarlark, for encoders.
func fromStarlark(v starlark.Value) (any, error) { return (&encoder{}).value(v) }

// encoder is the encoding of one value.
type encoder struct {
	// inside are the values around the one being encoded, outermost first.
	inside []starlark.Value
	count  int
}

func (e *encoder) value(v starlark.Value) (any, error) {
	if e.count++; e.count > mostValues {
		return nil, fmt.Errorf("there are more than %d values, counting those that stand in several places for each", mostValues)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case *blob:
		return v.text, nil
	case starlark.Int:
		return json.Number(v.String()), nil
	case starlark.Float:
		return float64(v), nil
	}
	if err := e.enter(v); err != nil {
		return nil, err
	}
	defer func() { e.inside = e.inside[:len(e.inside)-1] }()
	switch v := v.(type) {
	case *starlarkstruct.Struct:
		return e.fields(v)
	case starlark.IterableMapping:
		return e.items(v)
	case starlark.Iterable:
		list := []any{}
		for _, one := range elements(v) {
			x, err := e.value(one)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	}
	return nil, fmt.Errorf("cannot encode a %s", v.Type())
}

// enter refuses values that hold themselves, and those that stand too deep in others.
func (e *encoder) enter(v starlark.Value) error {
	if len(e.inside) == mostDepth {
		return fmt.Errorf("the value is nested more than %d levels deep", mostDepth)
	}
	switch v.(type) {
	case *starlark.List, *starlark.Dict: // only what can change can hold itself
		if slices.Contains(e.inside, v) {
			return fmt.Errorf("the value holds a %s that holds itself", v.Type())
		}
	default:
		v = starlark.None // tuples, which may be among the others, cannot be compared
	}
	e.inside = append(e.inside, v)
	return nil
}

func (e *encoder) fields(v *starlarkstruct.Struct) (any, error) {
	m := map[string]any{}
	for _, name := range v.AttrNames() {
		a, err := v.Attr(name)
		if err != nil {
			return nil, err
		}
		if m[name], err = e.value(a); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (e *encoder) items(v starlark.IterableMapping) (any, error) {
	m := map[string]any{}
	for _, item := range v.Items() {
		k, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("cannot encode a dict whose key %s is not a string", item[0])
		}
		x, err := e.value(item[1])
		if err != nil {
			return nil, err
		}
		m[k] = x
	}
	return m, nil
}
