package rest

import (
	"fmt"
	"strings"
	"testing"
)

func TestWatch(t *testing.T) {
	w := newWorld(t)
	address := w.serve()
	w.then(put("a", "1"), put("b", "2"))
	list := w.get(notesPath)
	version := at(list, "metadata", "resourceVersion").(string)
	w.then(put("b", "3"), put("c", "4")) // after the list, before the watch
	s := w.watch(address, notesPath+"?watch=true&resourceVersion="+version)
	_, e := s.next()
	if at(e, "type") != "MODIFIED" || at(e, "object", "spec", "text") != "3" || at(e, "object", "kind") != "Note" {
		t.Fatalf("%v", e)
	}
	s.expect("ADDED c 4")
	w.then(erased{"a"})
	s.expect("DELETED a 1")
	w.then(put("b", "5"))
	s.expect("MODIFIED b 5")
}

func TestWatchFromNowOn(t *testing.T) {
	w := newWorld(t)
	address := w.serve()
	w.then(put("a", "1", "on=yes"), put("b", "2"))
	for _, query := range []string{"", "&resourceVersion=0"} {
		w.watch(address, notesPath+"?watch=true"+query).expect("ADDED a 1", "ADDED b 2")
	}
	labelled := w.watch(address, notesPath+"?watch=true&labelSelector=on%3Dyes")
	named := w.watch(address, notesPath+"?watch=true&fieldSelector=metadata.name%3Db")
	labelled.expect("ADDED a 1")
	named.expect("ADDED b 2")
	w.then(put("b", "3", "on=yes"))
	labelled.expect("ADDED b 3")
	named.expect("MODIFIED b 3")
	w.then(put("a", "4"), erased{"b"})
	labelled.expect("DELETED a 1", "DELETED b 3")
	named.expect("DELETED b 3")
}

// TestWatchTellsAnObjectFromItsReplacement has an object that is deleted and created again between two snapshots.
func TestWatchTellsAnObjectFromItsReplacement(t *testing.T) {
	w := newWorld(t)
	address := w.serve()
	w.then(put("a", "1"))
	s := w.watch(address, notesPath+"?watch=true")
	s.expect("ADDED a 1")
	w.store.Dispatch(erased{"a"}, put("a", "2"))
	s.expect("DELETED a 1", "ADDED a 2")
}

func TestWatchWithInitialEvents(t *testing.T) {
	w := newWorld(t)
	address := w.serve()
	w.then(put("a", "1"))
	s := w.watch(address, notesPath+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	s.expect("ADDED a 1")
	_, mark := s.next()
	if at(mark, "type") != "BOOKMARK" || at(mark, "object", "metadata", "annotations", "k8s.io/initial-events-end") != "true" ||
		at(mark, "object", "metadata", "resourceVersion") != "1" || at(mark, "object", "kind") != "Note" {
		t.Errorf("%v", mark)
	}
	w.then(put("a", "2"))
	s.expect("MODIFIED a 2")
	none := w.watch(address, notesPath+"?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=10")
	w.then(put("a", "3"))
	none.expect("MODIFIED a 3")
}

func TestWatchAsTable(t *testing.T) {
	w := newWorld(t)
	address := w.serve()
	w.then(put("a", "1"), put("b", "2"))
	s := w.watch(address, notesPath+"?watch=true", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	_, first := s.next()
	_, second := s.next()
	if at(first, "object", "kind") != "Table" || at(first, "object", "columnDefinitions", 0, "name") != "Name" || at(first, "object", "rows", 0, "cells", 1) != "1" {
		t.Errorf("%v", first)
	}
	if at(second, "object", "columnDefinitions") != nil || at(second, "object", "rows", 0, "cells", 0) != "b" {
		t.Errorf("%v", second)
	}
}

func TestWatchOfThePast(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "1"), put("a", "2"))
	w.get(notesPath)
	for query, want := range map[string]int{"resourceVersion=1": 410, "resourceVersion=900": 410, "resourceVersion=x": 400,
		"sendInitialEvents=true": 400, "resourceVersionMatch=Exact&resourceVersion=2": 400} {
		if rec := w.ask("GET", notesPath+"?watch=true&timeoutSeconds=1&"+query, ""); rec.Code != want || !strings.Contains(rec.Body.String(), "Status") {
			t.Errorf("%s: %d %s, want %d", query, rec.Code, rec.Body, want)
		}
	}
}

// TestHistoryForgets checks that the history is bounded, and that no client receives only a part of the changes.
func TestHistoryForgets(t *testing.T) {
	w := newWorld(t)
	k := w.handler.kinds[0]
	w.then(put("a", "0"))
	k.at(w.View())
	for i := range 2*maxChanges + 10 {
		w.then(put("a", fmt.Sprint(i)))
		k.at(w.View())
	}
	if n := len(k.changes); n > 2*maxChanges || n < maxChanges {
		t.Errorf("%d changes are kept", n)
	}
	if _, _, ok := k.since(w.View(), 1); ok {
		t.Error("a forgotten snapshot is reported as known")
	}
	seq, changes, ok := k.since(w.View(), w.View().Seq-3)
	if !ok || len(changes) != 3 || seq != w.View().Seq || changes[0].seq != seq-2 {
		t.Errorf("%v %v %v", seq, changes, ok)
	}
}
