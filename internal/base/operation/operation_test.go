package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// world is a Runtime that notes its calls. Item n is letter 'a'+n.
type world struct {
	mu    sync.Mutex
	asked []string
	// fails are the requests that fail, as they are noted.
	fails map[string]bool
}

var _ Runtime = (*world)(nil)

var errNo = errors.New("no")

func (w *world) ask(verb string, item int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := verb + " " + string(rune('a'+item))
	w.asked = append(w.asked, asked)
	if w.fails[asked] {
		return errNo
	}
	return nil
}

func (w *world) Plan(_ context.Context, item int) (*api.PlanStep, error) {
	if err := w.ask("plan", item); err != nil {
		return nil, err
	}
	if item == 2 {
		return nil, nil
	}
	return &api.PlanStep{Reason: string(rune('a' + item))}, nil
}

func (w *world) Record(_ context.Context, items []int) error {
	for _, i := range items {
		if err := w.ask("record", i); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) Apply(_ context.Context, item int) error  { return w.ask("apply", item) }
func (w *world) Delete(_ context.Context, item int) error { return w.ask("delete", item) }
func (w *world) Await(_ context.Context, item int, until State) error {
	return w.ask([]string{"ready", "released", "gone"}[until], item)
}

// graph returns an operation on letters: "a>b" is a that needs b; each letter is a resource of its own name.
func graph(t *testing.T, w *world, needs string, change ...func(nodes []Node)) *Operation {
	t.Helper()
	var nodes []Node
	for i, n := range strings.Fields(needs) {
		name, on, _ := strings.Cut(n, ">")
		node := Node{Name: name, Item: i, Runtime: w, Resource: model.ManifestName(name)}
		for _, d := range on {
			node.Needs = append(node.Needs, int(d-'a'))
		}
		nodes = append(nodes, node)
	}
	for _, c := range change {
		c(nodes)
	}
	o, err := New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// brief writes the errors of nodes: "a: no, b: blocked by a".
func brief(errs []error) string {
	var out []string
	for i, err := range errs {
		if err != nil {
			out = append(out, fmt.Sprintf("%c: %s", 'a'+i, err))
		}
	}
	return strings.Join(out, ", ")
}

func fails(requests ...string) map[string]bool {
	m := map[string]bool{}
	for _, r := range requests {
		m[r] = true
	}
	return m
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name, needs string
		fails       map[string]bool
		want        string
		errs        string
	}{
		{"what is needed is ready first", "a>b b c>a", nil,
			"record a, record b, record c, apply b, ready b, apply a, ready a, apply c, ready c", ""},
		{"a failure blocks only what needs it", "a>b b c", fails("apply b"),
			"record a, record b, record c, apply b, apply c, ready c", "a: blocked by b, b: no"},
		{"what does not get ready blocks, too", "a>b b c>a", fails("ready b"),
			"record a, record b, record c, apply b, ready b", "a: blocked by b, b: no, c: blocked by b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{fails: tt.fails}
			errs, err := graph(t, w, tt.needs).Apply(t.Context(), 1)
			if err != nil || brief(errs) != tt.errs {
				t.Errorf("errors %q and %v, want %q", brief(errs), err, tt.errs)
			}
			if diff := cmp.Diff(tt.want, strings.Join(w.asked, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNothingIsAppliedWithoutRecords: a later process could not find an item without a record.
func TestNothingIsAppliedWithoutRecords(t *testing.T) {
	w := &world{fails: fails("record b")}
	if _, err := graph(t, w, "a b c").Apply(t.Context(), 1); !errors.Is(err, errNo) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"record a", "record b"}, w.asked); diff != "" {
		t.Error(diff)
	}
}

func TestDelete(t *testing.T) {
	for _, tt := range []struct {
		name, needs string
		change      func(nodes []Node)
		deps        map[model.ManifestName][]model.ManifestName
		now         bool // without waiting
		fails       map[string]bool
		want        string
		errs        string
	}{
		{name: "backwards", needs: "a b>a c>b", now: true, want: "delete c, delete b, delete a"},
		{name: "each is awaited", needs: "a b>a", want: "delete b, released b, delete a, gone b, released a, gone a"},
		{name: "what holds others goes when they are gone", needs: "a b>a", change: func(n []Node) { n[0].Holds = true },
			want: "delete b, released b, gone b, delete a, released a, gone a"},
		{name: "one that ends with its call is not awaited", needs: "a b", change: func(n []Node) { n[1].Whole = true },
			want: "delete b, delete a, released a, gone a"},
		{name: "resources go before what they depend on", needs: "a b c", now: true,
			deps: map[model.ManifestName][]model.ManifestName{"a": {"b"}, "b": {"c"}}, want: "delete a, delete b, delete c"},
		{name: "what nodes need wins over what resources depend on", needs: "a b>a", now: true,
			deps: map[model.ManifestName][]model.ManifestName{"a": {"b"}}, want: "delete b, delete a"},
		{name: "rather after another one", needs: "a b", now: true, change: func(n []Node) { n[0].Rather = []int{1} }, want: "delete a, delete b"},
		{name: "but not against what is needed", needs: "a b>a", now: true, change: func(n []Node) { n[0].Rather = []int{1} }, want: "delete b, delete a"},
		{name: "one that goes last", needs: "a b c", now: true, change: func(n []Node) { n[1].Last = true }, want: "delete c, delete a, delete b"},
		{name: "one that goes last, whatever becomes of the others", needs: "a b", now: true, change: func(n []Node) { n[1].Last = true }, fails: fails("delete a"),
			want: "delete a, delete b", errs: "a: no"},
		{name: "last, but before what its resource depends on", needs: "a b c", now: true, change: func(n []Node) { n[1].Last = true },
			deps: map[model.ManifestName][]model.ManifestName{"b": {"c"}}, want: "delete a, delete b, delete c"},
		{name: "a failure keeps what the failed one needs", needs: "a b>a c", now: true, fails: fails("delete b"), want: "delete c, delete b",
			errs: "a: blocked by b, b: no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{fails: tt.fails}
			var changes []func([]Node)
			if tt.change != nil {
				changes = append(changes, tt.change)
			}
			errs := graph(t, w, tt.needs, changes...).Delete(t.Context(), DeleteOptions{Limit: 1, Wait: !tt.now, Deps: tt.deps})
			if brief(errs) != tt.errs {
				t.Errorf("errors %q, want %q", brief(errs), tt.errs)
			}
			if tt.now {
				if diff := cmp.Diff(tt.want, strings.Join(w.asked, ", ")); diff != "" {
					t.Error(diff)
				}
				return
			}
			// Waits do not count against the limit and so run beside each other: only the order matters.
			place := func(asked string) int { return slices.Index(w.asked, asked) }
			want := strings.Split(tt.want, ", ")
			if got := slices.Sorted(slices.Values(w.asked)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Fatalf("asked %v, want %v", w.asked, want)
			}
			for i := range tt.needs {
				name := string(rune('a' + i))
				if r := place("released " + name); r >= 0 && (r < place("delete "+name) || place("gone "+name) < r) {
					t.Errorf("order %v", w.asked)
				}
			}
			if strings.Contains(tt.needs, "b>a") && place("delete a") < place("delete b") {
				t.Errorf("a goes before b: %v", w.asked)
			}
			if strings.HasPrefix(tt.name, "what holds") && place("delete a") < place("gone b") {
				t.Errorf("a goes while b is there: %v", w.asked)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	w := &world{}
	steps, err := graph(t, w, "a>b b c").Plan(t.Context(), 1)
	var got []string
	for _, s := range steps {
		got = append(got, s.Reason)
	}
	if err != nil || !slices.Equal(got, []string{"b", "a"}) { // c is worth no line
		t.Errorf("steps %v, %v", got, err)
	}
	w.fails = fails("plan b")
	if _, err := graph(t, w, "a>b b c").Plan(t.Context(), 1); err == nil || err.Error() != "plan b: no" {
		t.Errorf("error %v", err)
	}
}

func TestCyclesAreNamedWhole(t *testing.T) {
	_, err := New([]Node{{Name: "a", Needs: []int{1}}, {Name: "b", Needs: []int{2}}, {Name: "c", Needs: []int{1}}})
	if err == nil || err.Error() != "the nodes of an operation need each other: b → c → b" {
		t.Errorf("error %v", err)
	}
}

func TestCancelledOperationStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNo)
	w := &world{}
	errs := graph(t, w, "a b>a").Delete(ctx, DeleteOptions{Limit: 2})
	if len(w.asked) > 0 || !errors.Is(errs[0], errNo) || !errors.Is(errs[1], errNo) {
		t.Errorf("asked %v, errors %v", w.asked, errs)
	}
	var blocked *dag.Blocked
	if errors.As(errs[0], &blocked) {
		t.Error("what did not run is not blocked by another node")
	}
}
