package tiltfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"sigs.k8s.io/yaml"
)

func readJSON(c *call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) {
		v, err := decodeJSON([]byte(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return v, nil
	})
}

func readYAML(c *call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) { return decodeYAML(c, content, path) })
}

func readYAMLStream(c *call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) {
		docs, err := decodeYAMLStream(c, content, path)
		return starlark.NewList(docs), err
	})
}

// readData reads and decodes a file, or returns the default in its place.
func readData(c *call, decode func(content, path string) (starlark.Value, error)) (starlark.Value, error) {
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

func decodeJSONText(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("json", &in); err != nil {
		return nil, err
	}
	c.learned(in.value)
	return decodeJSON([]byte(in.value))
}

func decodeYAMLText(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.learned(in.value)
	return decodeYAML(c, in.value, in.source)
}

func decodeYAMLStreamText(c *call) (starlark.Value, error) {
	var in text
	if err := c.unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.learned(in.value)
	docs, err := decodeYAMLStream(c, in.value, in.source)
	return starlark.NewList(docs), err
}

func encodeJSON(c *call) (starlark.Value, error) {
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
	c.learned(out.String())
	return newBlob(out.String(), "encode_json"), err
}

func encodeYAMLValue(c *call) (starlark.Value, error) {
	var obj starlark.Value
	if err := c.unpack("obj", &obj); err != nil {
		return nil, err
	}
	out, err := encodeYAML(obj)
	c.learned(out)
	return newBlob(out, "encode_yaml"), err
}

func encodeYAMLStream(c *call) (starlark.Value, error) {
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
	c.learned(out)
	return newBlob(out, "encode_yaml_stream"), nil
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
func decodeYAML(c *call, content, source string) (starlark.Value, error) {
	docs, err := decodeYAMLStream(c, content, source)
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

func decodeYAMLStream(c *call, content, source string) ([]starlark.Value, error) {
	var out []starlark.Value
	for _, doc := range splitYAML(content) {
		data, err := remembered(c.evaluation, memoKey{kind: memoJSON, content: strings.Clone(doc.text)}, func() ([]byte, error) { return doc.json(source) })
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
