package objects

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
)

// Request selects objects, as a command line does.
type Request struct {
	// Args are kinds and names: "KIND", "KIND,KIND", "KIND NAME…", "KIND/NAME…".
	Args []string
	// Files are files and folders of objects, "-" for In; Recursive includes subfolders.
	Files     []string
	Recursive bool
	// In is the input that "-" refers to.
	In interface{ Read([]byte) (int, error) }
	// Labels and Fields are selectors that limit all objects of the kinds.
	Labels, Fields string
	// All selects all objects of the kinds, for verbs that require an explicit --all.
	All bool
	// Verb is the operation, for messages: "get".
	Verb string
}

// Target is a part of a request: objects of one kind.
type Target struct {
	Kind Kind
	// Names are the names of the objects; nil means all objects that the selectors match.
	Names []string
	// Labels and Fields are selectors that limit all objects of the kind.
	Labels, Fields string
	// Files are the objects as read from files, one per name; nil if the request has no files.
	Files []*unstructured.Unstructured
}

// Named reports whether the request names each object, so that each must exist.
func (t Target) Named() bool { return t.Names != nil }

// Targets returns the selected targets, in the order of the command line.
func (s *Client) Targets(r Request) ([]Target, error) {
	switch {
	case len(r.Files) > 0 && len(r.Args) > 0:
		return nil, problem.New("objects are named both by file and on the command line", "leave out either -f or the names")
	case len(r.Files) > 0:
		return s.fromFiles(r)
	case len(r.Args) == 0:
		return nil, problem.New("no objects are named",
			fmt.Sprintf("name a kind, and optionally its objects: hone %s KIND [NAME…], or: hone %s KIND/NAME\nhone api-resources lists the kinds", r.Verb, r.Verb))
	case strings.Contains(r.Args[0], "/"):
		return s.fromPairs(r)
	}
	return s.fromKinds(r)
}

// fromKinds reads "KIND[,KIND…] [NAME…]".
func (s *Client) fromKinds(r Request) (out []Target, err error) {
	names := r.Args[1:]
	if err := r.unselected(names); err != nil {
		return nil, err
	}
	if slices.Contains(names, "") {
		return nil, problem.New("the name of an object is empty", "hone get "+r.Args[0]+" lists the existing ones")
	}
	for _, word := range strings.Split(r.Args[0], ",") {
		if word == "" {
			return nil, problem.New(fmt.Sprintf("a kind is missing in %q", r.Args[0]), "separate kinds by single commas: uiresources,cmds")
		}
		kinds, err := s.expand(word)
		if err != nil {
			return nil, err
		}
		for _, k := range kinds {
			t := Target{Kind: k, Labels: r.Labels, Fields: r.Fields}
			for _, n := range names {
				t.Names = append(t.Names, objectName(k, n))
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// fromPairs reads "KIND/NAME…".
func (s *Client) fromPairs(r Request) (out []Target, err error) {
	if err := r.unselected(r.Args); err != nil {
		return nil, err
	}
	for _, arg := range r.Args {
		word, name, ok := strings.Cut(arg, "/")
		if !ok || word == "" || name == "" {
			return nil, problem.New(fmt.Sprintf("%q is not KIND/NAME", arg), "write all of them as KIND/NAME, or one kind and its names: KIND NAME…")
		}
		k, err := s.Kind(word)
		if err != nil {
			return nil, err
		}
		out = addName(out, k, objectName(k, name), nil)
	}
	return out, nil
}

// addName adds a name to the last target if that has the kind, else to a new target.
func addName(all []Target, k Kind, name string, file *unstructured.Unstructured) []Target {
	if n := len(all); n == 0 || all[n-1].Kind.GVR != k.GVR {
		all = append(all, Target{Kind: k})
	}
	t := &all[len(all)-1]
	t.Names = append(t.Names, name)
	if file != nil {
		t.Files = append(t.Files, file)
	}
	return all
}

// unselected refuses selectors that are combined with names.
func (r Request) unselected(names []string) error {
	switch {
	case len(names) == 0:
		return nil
	case r.All:
		return problem.New("--all cannot be combined with names", "leave out either --all or the names")
	case r.Labels != "" || r.Fields != "":
		return problem.New("objects are both named and selected", "leave out either the names or the selectors")
	}
	return nil
}

// objectName returns the name of the object that a word refers to. Entries of the store's tables can also be named by their
// ids.
func objectName(k Kind, word string) string {
	if k.GVR.Group == api.TablesGroup && strings.Contains(word, "/") {
		return api.ObjectName(word)
	}
	return word
}
