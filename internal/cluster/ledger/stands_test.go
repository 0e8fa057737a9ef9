package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage/memory"
	"github.com/hone-dev/hone/pkg/model"
)

// TestStands compares the question whether a replacement changes nothing with the replacement itself, in random ledgers.
func TestStands(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	resource := func() model.ManifestName { return model.ManifestName(fmt.Sprint("r", r.IntN(3))) }
	commands := []model.Cmd{{}, {}, {Argv: []string{"one"}}, {Argv: []string{"two"}}}
	records := func(revised bool) (list []Record) {
		for id := range 4 {
			if r.IntN(2) == 0 {
				continue
			}
			o := Record{ObjectID: model.ObjectID{Kind: []string{"Deployment", "Service"}[id%2], Name: fmt.Sprint(id)}, APIVersion: "v1", UID: fmt.Sprint("u", r.IntN(2))}
			if revised {
				o.Revision, o.Fresh = r.IntN(2), r.IntN(2) == 0
			}
			o.Foreign = r.IntN(4) == 0
			list = append(list, o)
		}
		return list
	}
	stood, replaced := 0, 0
	for range 20_000 {
		before := emptyContent()
		for range 3 {
			name := resource()
			before.objects[name] = records(true)
			if c := commands[r.IntN(len(commands))]; !c.Empty() {
				before.commands[name] = c
			}
		}
		before.tidy()
		l := &Ledger{storage: memory.New(), key: Key{Cluster: "c", Project: "p"}}
		l.know(before, "1")
		name, list, command := resource(), records(false), commands[r.IntN(len(commands))]
		if r.IntN(2) == 0 { // as after a deploy that has changed nothing
			list, command = nil, before.commands[name]
			for _, o := range before.objects[name] {
				o.Fresh, o.Revision = false, 0
				list = append(list, o)
			}
		}
		after := before.clone()
		after.replace(name, list, command)
		after.tidy()
		after.stamp(before, nil)
		stands := l.stands(name, list, command)
		if stands {
			stood++
		} else {
			replaced++
		}
		if same := before.equal(after); same != stands {
			t.Fatalf("before %v, %v\nreplace %s with %v, %v\nafter %v, %v\nthe same: %t, stands: %t", before.objects, before.commands, name, list, command, after.objects, after.commands, same, stands)
		}
	}
	if stood < 1000 || replaced < 1000 {
		t.Errorf("%d stood, %d were replaced", stood, replaced)
	}
	l := &Ledger{storage: memory.New(), key: Key{Cluster: "c", Project: "p"}}
	l.know(emptyContent(), "1")
	if !l.stands("r", nil, model.Cmd{}) {
		t.Error("nothing is not nothing")
	}
	if l.wrote.Store(true); l.stands("r", nil, model.Cmd{}) {
		t.Error("an object that was written keeps its revision")
	}
}
