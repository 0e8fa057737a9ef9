package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
)

// extensions are the file name extensions of files with objects in a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// maxFile is the maximum size of a file of objects, in bytes.
const maxFile = 16 << 20

// fromFiles reads objects from files.
func (s *Client) fromFiles(r Request) (out []Target, err error) {
	selector, err := labels.Parse(r.Labels)
	if err != nil {
		return nil, problem.Wrap(err, fmt.Sprintf("the selector %q is invalid", r.Labels), "for example: -l app=web,tier!=db")
	}
	any := false
	for _, path := range r.Files {
		docs, err := r.read(path)
		if err != nil {
			return nil, err
		}
		for _, u := range docs {
			any = true
			k, err := s.KindOf(u.GroupVersionKind())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if selector.Matches(labels.Set(u.GetLabels())) {
				out = addName(out, k, u.GetName(), u)
			}
		}
	}
	if !any {
		return nil, problem.New("there are no objects in "+strings.Join(r.Files, ", "), "objects are in YAML or JSON files; -R includes subfolders")
	}
	return out, nil
}

// read returns the objects of a file, of the files in a folder, or of the input.
func (r Request) read(path string) ([]*unstructured.Unstructured, error) {
	if path == "-" {
		return Decode("the input", r.In)
	}
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return nil, problem.New(path+" is an address, not a file", "fetch it yourself: curl -fsSL "+path+" | hone "+r.Verb+" -f -")
	}
	files, err := r.files(path)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		docs, err := decodeFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	return all, nil
}

// files returns a file, or the files of a folder, sorted by name.
func (r Request) files(path string) (out []string, err error) {
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == path && !d.IsDir(), !d.IsDir() && slices.Contains(extensions, filepath.Ext(p)):
			out = append(out, p)
		case d.IsDir() && p != path && !r.Recursive:
			return fs.SkipDir
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New("there is no file "+path, "name a file, a folder, or - for the input")
	}
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	return out, nil
}

func decodeFile(path string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	defer f.Close()
	return Decode(path, f)
}

// Decode reads objects from YAML with any number of documents, or from JSON. Lists are split into their items. from names the
// source in messages.
func Decode(from string, in io.Reader) (out []*unstructured.Unstructured, err error) {
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	if len(content) > maxFile {
		return nil, problem.New(fmt.Sprintf("%s is larger than %d MB", from, maxFile>>20), "divide it into several files")
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for i := 1; ; i++ {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", from, err)
		}
		if out, err = decodeDocument(out, doc); err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", from, i, err)
		}
	}
}

// decodeDocument adds the objects of one document. A document that has only comments has no objects.
func decodeDocument(all []*unstructured.Unstructured, doc []byte) ([]*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, problem.Wrap(err, "it is neither YAML nor JSON", "")
	}
	if t := bytes.TrimSpace(text); len(t) == 0 || bytes.Equal(t, []byte("null")) {
		return all, nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return nil, problem.Wrap(err, "it is not an object", "an object begins with apiVersion and kind; hone explain KIND lists the fields")
	}
	if !u.IsList() {
		return addObject(all, u)
	}
	list, err := u.ToList()
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if all, err = addObject(all, &list.Items[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func addObject(all []*unstructured.Unstructured, u *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if u.GetName() == "" && u.GetGenerateName() == "" {
		return nil, problem.New(fmt.Sprintf("a %s has no name", u.GetKind()), "write: metadata: {name: …}")
	}
	if ns := u.GetNamespace(); ns != "" && ns != metav1.NamespaceDefault {
		return nil, problem.New(fmt.Sprintf("%s %s is in a namespace, which sessions do not have", u.GetKind(), u.GetName()), "leave out metadata.namespace")
	}
	u.SetNamespace("")
	return append(all, u), nil
}
