package stdlib

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
)

func readJSON(c *eval.Call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) {
		v, err := value.DecodeJSON([]byte(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return v, nil
	})
}

func readYAML(c *eval.Call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) { return decodeYAML(c, content, path) })
}

func readYAMLStream(c *eval.Call) (starlark.Value, error) {
	return readData(c, func(content, path string) (starlark.Value, error) {
		docs, err := decodeYAMLStream(c, content, path)
		return starlark.NewList(docs), err
	})
}

// readData reads and decodes a file, or returns the default instead.
func readData(c *eval.Call, decode func(content, path string) (starlark.Value, error)) (starlark.Value, error) {
	var path string
	var fallback starlark.Value
	// None is a proper default here, so the argument is not marked as skipping None.
	if err := c.Unpack("path", &path, "default?", &fallback); err != nil {
		return nil, err
	}
	content, found, err := c.Contents(path, fallback)
	if err != nil || !found {
		return fallback, err
	}
	return decode(content, c.Abs(path))
}

func decodeJSONText(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("json", &in); err != nil {
		return nil, err
	}
	c.Learn(in.Value)
	return value.DecodeJSON([]byte(in.Value))
}

func decodeYAMLText(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.Learn(in.Value)
	return decodeYAML(c, in.Value, in.Source)
}

func decodeYAMLStreamText(c *eval.Call) (starlark.Value, error) {
	var in value.Text
	if err := c.Unpack("yaml", &in); err != nil {
		return nil, err
	}
	c.Learn(in.Value)
	docs, err := decodeYAMLStream(c, in.Value, in.Source)
	return starlark.NewList(docs), err
}

func encodeJSON(c *eval.Call) (starlark.Value, error) {
	var obj starlark.Value
	if err := c.Unpack("obj", &obj); err != nil {
		return nil, err
	}
	v, err := value.ToJSON(obj)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	err = enc.Encode(v)
	c.Learn(out.String())
	return value.NewBlob(out.String(), "encode_json"), err
}

func encodeYAMLValue(c *eval.Call) (starlark.Value, error) {
	var obj starlark.Value
	if err := c.Unpack("obj", &obj); err != nil {
		return nil, err
	}
	out, err := encodeYAML(obj)
	c.Learn(out)
	return value.NewBlob(out, "encode_yaml"), err
}

func encodeYAMLStream(c *eval.Call) (starlark.Value, error) {
	var objs starlark.Iterable
	if err := c.Unpack("objs", &objs); err != nil {
		return nil, err
	}
	var docs []string
	for _, v := range value.Elements(objs) {
		doc, err := encodeYAML(v)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	out := strings.Join(docs, "---\n")
	c.Learn(out)
	return value.NewBlob(out, "encode_yaml_stream"), nil
}

func encodeYAML(v starlark.Value) (string, error) {
	data, err := value.ToJSON(v)
	if err != nil {
		return "", err
	}
	out, err := yamltext.Marshal(data)
	return string(out), err
}

// decodeYAML decodes a single document; a text without documents is None.
func decodeYAML(c *eval.Call, content, source string) (starlark.Value, error) {
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

func decodeYAMLStream(c *eval.Call, content, source string) ([]starlark.Value, error) {
	var out []starlark.Value
	for _, doc := range yamlstream.Split(content) {
		data, err := eval.Remembered(c.Evaluation, memo.Key{Kind: memo.JSON, Content: strings.Clone(doc.Text)}, func() ([]byte, error) { return doc.JSON(source) })
		if err != nil {
			return nil, err
		}
		v, err := value.DecodeJSON(data)
		if err != nil {
			return nil, err
		}
		if v != starlark.None {
			out = append(out, v)
		}
	}
	return out, nil
}
