package store

import (
	"iter"
	"strings"
)

// List is the entries of a table at one moment, in the order of their ids. The zero List is empty.
type List[T any] struct{ of []Row }

// List returns the entries as a list, which snapshots share.
func (r Rows[T]) List() List[T] { return List[T]{r.of.all()} }

// Changes yields the entries that differ from an earlier or a later list of the table, in the order of their ids. was is nil for an entry that is
// not in before, and is for one that is only there. Neither must be changed. Entries that are the same cost a comparison of pointers.
func (l List[T]) Changes(before List[T]) iter.Seq2[*Entry[T], *Entry[T]] {
	return func(yield func(was, is *Entry[T]) bool) {
		for a, b := before.of, l.of; len(a) > 0 || len(b) > 0; {
			var was, is Row
			switch order := order(a, b); {
			case order < 0:
				was, a = a[0], a[1:]
			case order > 0:
				is, b = b[0], b[1:]
			default:
				was, is, a, b = a[0], b[0], a[1:], b[1:]
			}
			if was != is && !yield(entryOf[T](was), entryOf[T](is)) {
				return
			}
		}
	}
}

// order compares the first ids of two lists of which one has entries. The end of a list comes last.
func order(a, b []Row) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	case a[0] == b[0]:
		return 0
	}
	return strings.Compare(a[0].Metadata().ID, b[0].Metadata().ID)
}
