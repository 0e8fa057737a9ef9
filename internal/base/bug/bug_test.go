package bug

import (
	"strings"
	"testing"
)

// take collects the reports of a test.
func take(t *testing.T) *[]*Report {
	var all []*Report
	t.Cleanup(Take(func(r *Report) { all = append(all, r) }))
	return &all
}

func notice() { _ = Reportf("the %s is missing", "wheel") }

func TestReportSaysWhereAndWithWhichStack(t *testing.T) {
	all := take(t)
	notice()
	if len(*all) != 1 {
		t.Fatalf("%d reports", len(*all))
	}
	r := (*all)[0]
	if r.What != "the wheel is missing" || !strings.HasPrefix(r.Where, "bug.notice:") {
		t.Errorf("reported %q at %s", r.What, r.Where)
	}
	if !strings.Contains(r.Stack, "TestReportSaysWhereAndWithWhichStack") {
		t.Errorf("the stack does not lead to the caller:\n%s", r.Stack)
	}
	if want := "this is a bug in hone: the wheel is missing (at " + r.Where + "); please report it"; r.Error() != want {
		t.Errorf("it reads %q, want %q", r.Error(), want)
	}
}

func explode() { panic("boom") }

func outOfRange(list []int) int { return list[len(list)] } //nolint:gocritic // it must panic

func put(m map[string]int) { m["a"] = 1 }

func TestCaughtNamesWhatPanicked(t *testing.T) {
	for where, do := range map[string]func(){
		"bug.explode:": explode, "bug.outOfRange:": func() { outOfRange(nil) }, "bug.put:": func() { put(nil) },
	} {
		all := take(t)
		func() {
			defer func() {
				if p := recover(); p != nil {
					_ = Caught("test", p)
				}
			}()
			do()
		}()
		if len(*all) != 1 {
			t.Fatalf("%d reports", len(*all))
		}
		r := (*all)[0]
		if !strings.HasPrefix(r.Where, where) || !strings.HasPrefix(r.What, "test: panic: ") || !strings.Contains(r.Stack, "TestCaughtNamesWhatPanicked") {
			t.Errorf("reported %q at %s, want the place %s", r.What, r.Where, where)
		}
	}
}

func TestAReportThatNobodyTakesFailsTheTest(t *testing.T) {
	defer func() {
		if p, _ := recover().(string); !strings.HasPrefix(p, "this is a bug in hone: the wheel is missing (at bug.notice:") {
			t.Errorf("recovered %q", p)
		}
	}()
	notice()
	t.Error("it went on")
}

func TestTakeIsUndone(t *testing.T) {
	all := take(t)
	var inner int
	restore := Take(func(*Report) { inner++ })
	notice()
	restore()
	notice()
	if inner != 1 || len(*all) != 1 {
		t.Errorf("%d reports inside and %d outside, want one each", inner, len(*all))
	}
}
