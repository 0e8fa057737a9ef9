package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verify checks contracts against each other and the schema. It is pure; every violation is a separate error that names the
// parties. The rules: unique names, known tables, no dead action, exclusive actions have one emitter, strong inputs need
// finalizers, every table has a reader, every cycle has a reason.
func Verify(schema *Schema, contracts []Contract) []error {
	var faults []error
	faults = append(faults, verifyNames(contracts)...)
	faults = append(faults, verifyInputs(schema, contracts)...)
	faults = append(faults, verifyOutputs(schema, contracts)...)
	faults = append(faults, verifyCalls(contracts)...)
	faults = append(faults, verifyReaders(schema, contracts)...)
	faults = append(faults, verifyCycles(schema, contracts)...)
	return faults
}

func verifyNames(contracts []Contract) (faults []error) {
	seen := map[string]bool{}
	for _, c := range contracts {
		switch {
		case c.Name == "":
			faults = append(faults, fmt.Errorf("a subscriber has no name"))
		case seen[c.Name]:
			faults = append(faults, fmt.Errorf("two subscribers are called %q", c.Name))
		case c.Doc == "":
			faults = append(faults, fmt.Errorf("subscriber %q has no doc sentence", c.Name))
		}
		seen[c.Name] = true
	}
	return faults
}

func verifyInputs(schema *Schema, contracts []Contract) (faults []error) {
	for _, c := range contracts {
		seen := map[string]bool{}
		for _, in := range c.Inputs {
			t, _ := schema.table(in.Table)
			switch {
			case t == nil:
				faults = append(faults, fmt.Errorf("subscriber %q reads table %q, which does not exist", c.Name, in.Table))
			case in.Strong && !t.finalizers:
				faults = append(faults, fmt.Errorf("subscriber %q holds table %q, which has no finalizers", c.Name, in.Table))
			case seen[in.Table]:
				faults = append(faults, fmt.Errorf("subscriber %q declares table %q twice", c.Name, in.Table))
			}
			seen[in.Table] = true
		}
	}
	return faults
}

func verifyCalls(contracts []Contract) (faults []error) {
	for _, c := range contracts {
		for _, call := range c.Calls {
			switch {
			case call.To == c.Name || !slices.ContainsFunc(contracts, func(o Contract) bool { return o.Name == call.To }):
				faults = append(faults, fmt.Errorf("subscriber %q calls %q, which is not another subscriber", c.Name, call.To))
			case call.Doc == "":
				faults = append(faults, fmt.Errorf("subscriber %q calls %q without a reason", c.Name, call.To))
			}
		}
	}
	return faults
}

func verifyOutputs(schema *Schema, contracts []Contract) (faults []error) {
	emitters := map[ActionType][]string{}
	shared := map[ActionType]int{}
	for _, c := range contracts {
		for _, o := range c.Outputs {
			if len(schema.accepts[o.Action]) == 0 {
				faults = append(faults, fmt.Errorf("subscriber %q emits %s, which no table accepts", c.Name, o.Action))
			}
			emitters[o.Action] = append(emitters[o.Action], c.Name)
			if o.Shared {
				shared[o.Action]++
			}
		}
	}
	for _, a := range sortedActions(emitters) {
		names := emitters[a]
		switch {
		case shared[a] == 0 && len(names) > 1:
			faults = append(faults, fmt.Errorf("exclusive action %s is emitted by %s", a, strings.Join(names, " and ")))
		case shared[a] > 0 && shared[a] < len(names):
			faults = append(faults, fmt.Errorf("action %s is shared for some and exclusive for others of %s", a, strings.Join(names, ", ")))
		}
	}
	for _, a := range sortedActions(schema.accepts) {
		if len(emitters[a]) == 0 && a != ActionOf[SubscriberReported]() {
			faults = append(faults, fmt.Errorf("no subscriber emits %s, which %s accepts", a, strings.Join(schema.accepts[a], ", ")))
		}
	}
	return faults
}

func verifyReaders(schema *Schema, contracts []Contract) (faults []error) {
	read := map[string]bool{}
	for _, c := range contracts {
		for _, in := range c.Inputs {
			read[in.Table] = true
		}
	}
	for _, t := range schema.tables {
		if !read[t.name] {
			faults = append(faults, fmt.Errorf("no subscriber reads table %q", t.name))
		}
		if t.doc == "" {
			faults = append(faults, fmt.Errorf("table %q has no doc sentence", t.name))
		}
	}
	return faults
}

// verifyCycles refuses a subscriber that reads a table that its own actions change, unless its contract gives a reason. Longer
// cycles, through tables that one subscriber changes for another, are normal in a control loop; the graph shows them.
func verifyCycles(schema *Schema, contracts []Contract) (faults []error) {
	for _, c := range contracts {
		if c.Feedback != "" {
			continue
		}
		for _, o := range c.Outputs {
			for _, in := range c.Inputs {
				if slices.Contains(schema.changed(o.Action), in.Table) {
					faults = append(faults, fmt.Errorf("subscriber %q reads table %q and changes it by %s without a Feedback reason",
						c.Name, in.Table, o.Action))
				}
			}
		}
	}
	return faults
}

func sortedActions[V any](m map[ActionType]V) []ActionType {
	return slices.SortedFunc(maps.Keys(m), func(a, b ActionType) int { return strings.Compare(a.String(), b.String()) })
}
