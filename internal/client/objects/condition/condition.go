// Package condition waits until objects of a session meet conditions.
package condition

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

// Condition is the state that an object should reach.
type Condition struct {
	text string
	// gone and there require that the object does not exist or exists; name and status refer to one of its conditions; path
	// and value refer to any of its fields.
	gone, there  bool
	name, status string
	path         *jsonpath.JSONPath
	value        string
	anyValue     bool
}

// String returns the condition as it was written.
func (c Condition) String() string { return c.text }

// Gone reports whether the condition is that the object does not exist.
func (c Condition) Gone() bool { return c.gone }

const mend = "write one of: --for=condition=Ready, --for=condition=Ready=false, --for=jsonpath='{.status.updateStatus}'=ok, --for=create, --for=delete"

// ParseAll parses conditions that must be met one after another. Conditions that the object exists come first.
func ParseAll(texts []string) ([]Condition, error) {
	if len(texts) == 0 {
		texts = []string{""}
	}
	var all []Condition
	for _, text := range texts {
		c, err := Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Condition) int {
		switch {
		case a.there == b.there:
			return 0
		case a.there:
			return -1
		}
		return 1
	})
	return all, nil
}

// Parse reads "delete", "create", "condition=NAME[=STATUS]" or "jsonpath={PATH}[=VALUE]".
func Parse(text string) (Condition, error) {
	c := Condition{text: text}
	kind, rest, _ := strings.Cut(text, "=")
	switch strings.ToLower(kind) {
	case "delete":
		c.gone = true
	case "create":
		c.there = true
	case "condition":
		c.name, c.status, _ = strings.Cut(rest, "=")
		if c.status == "" {
			c.status = "true"
		}
		if c.name == "" {
			return c, problem.New(fmt.Sprintf("%q names no condition", text), mend)
		}
	case "jsonpath":
		return c, c.parsePath(rest)
	case "":
		return c, problem.New("there is no condition to wait for", mend)
	default:
		return c, problem.New(fmt.Sprintf("cannot wait for %q", text), mend)
	}
	return c, nil
}

func (c *Condition) parsePath(rest string) error {
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') { // quotes that the shell has left
		if path, after, ok := strings.Cut(rest[1:], rest[:1]); ok {
			rest = path + after
		}
	}
	var path, value string
	if i := strings.LastIndex(rest, "}"); i >= 0 && strings.HasPrefix(strings.TrimSpace(rest), "{") {
		path, value = rest[:i+1], rest[i+1:]
		if value != "" && value[0] != '=' {
			return problem.New(fmt.Sprintf("%q has text after the path that is not =VALUE", c.text), mend)
		}
		c.anyValue = value == ""
		value = strings.TrimPrefix(value, "=")
	} else {
		var ok bool
		path, value, ok = strings.Cut(rest, "=")
		c.anyValue = !ok
	}
	c.value = unquoted(value)
	var err error
	if c.path, err = output.ParsePath(path); err != nil {
		return problem.Wrap(err, "cannot wait for "+c.text, mend)
	}
	return nil
}

// unquoted removes the quotes that the shell has left around a value.
func unquoted(s string) string { return words.Unquoted(s) }

// Met reports whether an object, nil if there is none, meets the condition. The second result describes the actual state.
func (c Condition) Met(u *unstructured.Unstructured) (bool, string) {
	switch {
	case c.gone:
		return u == nil, "it is still there"
	case u == nil:
		return false, "there is no such object"
	case c.there:
		return true, ""
	case c.path != nil:
		return c.pathMet(u)
	}
	return c.conditionMet(u)
}

// failure is the condition of an object that has failed, and is not tried again by itself.
var failure = Condition{name: "Failed", status: "true"}

// successes are the values of fields that an object that has failed does not get.
var successes = map[string]bool{"ok": true, "not_applicable": true}

// wantsSuccess reports whether an object that has failed does not meet the condition by itself.
func (c Condition) wantsSuccess() bool {
	if c.path != nil {
		return successes[c.value]
	}
	return c.name != "" && !strings.EqualFold(c.name, failure.name) && strings.EqualFold(c.status, "true")
}

// Failure is why an object does not meet a condition by itself.
type Failure struct {
	// Of is the name of the object that has failed, if it is another one, which the object waits for.
	Of string
	// Why is its error.
	Why string
}

// Hopeless returns the failure that keeps an object from meeting the condition by itself; nil if there is none.
func (c Condition) Hopeless(u *unstructured.Unstructured) *Failure {
	if u == nil || !c.wantsSuccess() {
		return nil
	}
	if is, _ := failure.conditionMet(u); is {
		m, _ := conditionOf(u, failure.name)
		return &Failure{Why: text(m, "message")}
	}
	if b, blocked, _ := unstructured.NestedMap(u.Object, "status", "waiting", "blocker"); blocked {
		return &Failure{Of: text(b, "name"), Why: text(b, "message")}
	}
	return nil
}

func text(m map[string]any, field string) string {
	s, _, _ := unstructured.NestedString(m, field)
	return s
}

// conditionOf returns a condition of an object, and the names of all if it is not among them.
func conditionOf(u *unstructured.Unstructured, name string) (m map[string]any, names []string) {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range all {
		m, ok := x.(map[string]any)
		if !ok {
			continue
		}
		is, _, _ := unstructured.NestedString(m, "type")
		if strings.EqualFold(is, name) {
			return m, nil
		}
		names = append(names, is)
	}
	return nil, names
}

func (c Condition) conditionMet(u *unstructured.Unstructured) (bool, string) {
	m, names := conditionOf(u, c.name)
	switch {
	case m == nil && names == nil:
		return false, "it has no conditions"
	case m == nil:
		return false, fmt.Sprintf("it has no condition %s, but %s", c.name, strings.Join(names, ", "))
	}
	status, _, _ := unstructured.NestedString(m, "status")
	if strings.EqualFold(status, c.status) {
		return true, ""
	}
	name, _, _ := unstructured.NestedString(m, "type")
	return false, why(name, status, m)
}

// why describes the state of a condition, with its reason and message.
func why(name, status string, m map[string]any) string {
	text := fmt.Sprintf("%s is %s", name, status)
	for _, field := range []string{"reason", "message"} {
		if s, _, _ := unstructured.NestedString(m, field); s != "" {
			text += ": " + s
		}
	}
	return text
}

func (c Condition) pathMet(u *unstructured.Unstructured) (bool, string) {
	found, err := c.path.FindResults(u.Object)
	if err != nil {
		return false, err.Error()
	}
	var values []string
	for _, group := range found {
		for _, v := range group {
			if !v.IsValid() || !v.CanInterface() || v.Interface() == nil {
				continue
			}
			text := fmt.Sprint(v.Interface())
			if c.anyValue || text == c.value {
				return true, ""
			}
			values = append(values, text)
		}
	}
	if values == nil {
		return false, "it has no value"
	}
	return false, "it is " + strings.Join(values, ", ")
}
