package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/api/schema"
)

// documents are the OpenAPI documents. They are created on the first request and do not change while the program runs.
type documents struct {
	kinds   []*kind
	version string
	// more are further documents of version 3, by name.
	more map[string]func() map[string]any
	v2   func() (document, error)
	v3   func() (map[string]document, error) // by "apis/GROUP/VERSION"
}

// document is an OpenAPI document as text and in its binary form.
type document struct {
	text, binary []byte
	hash         string
}

func newDocuments(all []*kind, version string) *documents {
	d := &documents{kinds: all, version: version, more: map[string]func() map[string]any{}}
	d.v2 = sync.OnceValues(d.makeV2)
	d.v3 = sync.OnceValues(d.makeV3)
	return d
}

// serve handles /openapi/v2, /openapi/v3 and the documents that the latter lists.
func (d *documents) serve(a *answer, parts []string) {
	switch path := strings.Join(parts, "/"); {
	case path == "v2":
		doc, err := d.v2()
		if err != nil {
			a.fail(apierrors.NewInternalError(err))
			return
		}
		a.sendDocument(doc, mediaV2)
	case path == "v3":
		d.sendIndex(a)
	case strings.HasPrefix(path, "v3/"):
		all, err := d.v3()
		if err != nil {
			a.fail(apierrors.NewInternalError(err))
			return
		}
		doc, ok := all[strings.TrimPrefix(path, "v3/")]
		if !ok {
			a.fail(notThere())
			return
		}
		a.sendDocument(doc, mediaV3)
	default:
		a.fail(notThere())
	}
}

func (a *answer) sendDocument(doc document, binary string) {
	a.w.Header().Set("Etag", `"`+doc.hash+`"`)
	if a.media == binary {
		a.sendRaw(http.StatusOK, binary, doc.binary)
		return
	}
	a.send(http.StatusOK, doc.text)
}

// sendIndex lists the documents of version 3.
func (d *documents) sendIndex(a *answer) {
	all, err := d.v3()
	if err != nil {
		a.fail(apierrors.NewInternalError(err))
		return
	}
	paths := map[string]any{}
	for path, doc := range all {
		paths[path] = map[string]any{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + doc.hash}
	}
	a.sendValue(http.StatusOK, map[string]any{"paths": paths})
}

func (d *documents) info() map[string]any {
	return map[string]any{"title": "hone", "version": d.version}
}

func (d *documents) makeV2() (document, error) {
	definitions := schema.NewDefinitions("#/definitions/")
	paths := map[string]any{}
	for _, k := range d.kinds {
		describe(definitions, k)
		for path, item := range operations(k, definitions, false) {
			paths[path] = item
		}
	}
	text, err := json.Marshal(map[string]any{"swagger": "2.0", "info": d.info(), "paths": paths, "definitions": definitions.All})
	if err != nil {
		return document{}, err
	}
	parsed, err := openapiv2.ParseDocument(text)
	if err != nil {
		return document{}, err
	}
	binary, err := proto.Marshal(parsed)
	return newDocument(text, binary), err
}

func (d *documents) makeV3() (map[string]document, error) {
	all := map[string]document{}
	for _, k := range d.kinds {
		of := "apis/" + k.Group + "/" + k.Version
		if _, made := all[of]; made {
			continue
		}
		definitions := schema.NewDefinitions("#/components/schemas/")
		paths := map[string]any{}
		for _, o := range d.kinds {
			if o.Group != k.Group || o.Version != k.Version {
				continue
			}
			describe(definitions, o)
			for path, item := range operations(o, definitions, true) {
				paths[path] = item
			}
		}
		doc, err := d.documentV3(map[string]any{"paths": paths, "components": map[string]any{"schemas": definitions.All}})
		if err != nil {
			return nil, err
		}
		all[of] = doc
	}
	for name, make := range d.more {
		doc, err := d.documentV3(make())
		if err != nil {
			return nil, err
		}
		all[name] = doc
	}
	return all, nil
}

// documentV3 returns a document of version 3 with its paths and components.
func (d *documents) documentV3(content map[string]any) (document, error) {
	content["openapi"], content["info"] = "3.0.0", d.info()
	text, err := json.Marshal(content)
	if err != nil {
		return document{}, err
	}
	parsed, err := openapiv3.ParseDocument(text)
	if err != nil {
		return document{}, err
	}
	binary, err := proto.Marshal(parsed)
	return newDocument(text, binary), err
}

func newDocument(text, binary []byte) document {
	sum := sha256.Sum256(text)
	return document{text, binary, strings.ToUpper(hex.EncodeToString(sum[:]))}
}

// definition returns the name of a kind's schema.
func definition(k *kind) string {
	parts := strings.Split(k.Group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + k.Version + "." + k.Name
}

// describe adds the schemas of a kind and of its list.
func describe(d *schema.Definitions, k *kind) {
	name := definition(k)
	object := d.Object(k.New(), name, k.Doc)
	object["x-kubernetes-group-version-kind"] = []any{groupVersionKind(k, k.Name)}
	d.All[name+"List"] = map[string]any{"type": "object", "description": "A list of " + k.Name + " objects.",
		"properties": map[string]any{
			"apiVersion": map[string]any{"type": "string"}, "kind": map[string]any{"type": "string"},
			"metadata": d.Define(reflect.TypeFor[metav1.ListMeta]()),
			"items":    map[string]any{"type": "array", "items": map[string]any{"$ref": d.Prefix + name}},
		},
		"required": []string{"items"}, "x-kubernetes-group-version-kind": []any{groupVersionKind(k, k.Name+"List")}}
}

func groupVersionKind(k *kind, name string) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": name}
}

// operations returns the paths of a kind with their operations.
func operations(k *kind, d *schema.Definitions, v3 bool) map[string]any {
	base := "/apis/" + k.Group + "/" + k.Version + "/" + k.Plural
	op := func(verb, action, result string, query ...string) map[string]any {
		return operation(k, d, v3, verb, action, result, query)
	}
	reading := []string{"labelSelector", "fieldSelector", "resourceVersion", "limit", "continue", "watch"}
	writing := []string{"dryRun", "fieldManager", "fieldValidation"}
	collection := map[string]any{"get": op("list", "list", definition(k)+"List", reading...)}
	object := map[string]any{"get": op("read", "get", definition(k)), "parameters": []any{parameter("name", "path", v3)}}
	if k.Write != nil {
		collection["post"] = op("create", "post", definition(k), writing...)
		object["put"] = op("replace", "put", definition(k), writing...)
		object["patch"] = op("patch", "patch", definition(k), append([]string{"force"}, writing...)...)
		object["delete"] = op("delete", "delete", "", "dryRun")
	}
	return map[string]any{base: collection, base + "/{name}": object}
}

func operation(k *kind, d *schema.Definitions, v3 bool, verb, action, result string, query []string) map[string]any {
	o := map[string]any{"operationId": verb + strings.ReplaceAll(k.Group, ".", "") + k.Version + k.Name, "description": verb + " " + k.Name,
		"x-kubernetes-action": action, "x-kubernetes-group-version-kind": groupVersionKind(k, k.Name)}
	parameters := []any{}
	for _, q := range query {
		parameters = append(parameters, parameter(q, "query", v3))
	}
	answer := map[string]any{"description": "OK"}
	of := map[string]any{"type": "object"}
	if result != "" {
		of = map[string]any{"$ref": d.Prefix + result}
	}
	takes := bodyTypes(action)
	if v3 {
		answer["content"] = map[string]any{mediaJSON: map[string]any{"schema": of}}
		if takes != nil {
			content := map[string]any{}
			for _, t := range takes {
				content[t] = map[string]any{"schema": map[string]any{"type": "object"}}
			}
			o["requestBody"] = map[string]any{"content": content, "required": true}
		}
	} else {
		answer["schema"] = of
		o["produces"] = []string{mediaJSON, mediaYAML}
		if takes != nil {
			o["consumes"] = takes
			parameters = append(parameters, map[string]any{"name": "body", "in": "body", "required": true, "schema": map[string]any{"type": "object"}})
		}
	}
	o["responses"] = map[string]any{"200": answer}
	o["parameters"] = parameters
	return o
}

// bodyTypes returns the media types that an operation accepts. Strategic merge patches are accepted but not listed, because
// they are applied as plain merge patches.
func bodyTypes(action string) []string {
	switch action {
	case "post", "put":
		return []string{mediaJSON, mediaYAML}
	case "patch":
		return []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	}
	return nil
}

func parameter(name, in string, v3 bool) map[string]any {
	p := map[string]any{"name": name, "in": in}
	kind := map[string]string{"limit": "integer", "watch": "boolean", "force": "boolean"}[name]
	if kind == "" {
		kind = "string"
	}
	if v3 {
		p["schema"] = map[string]any{"type": kind}
	} else {
		p["type"] = kind
		p["uniqueItems"] = true
	}
	if in == "path" {
		p["required"] = true
	}
	return p
}
