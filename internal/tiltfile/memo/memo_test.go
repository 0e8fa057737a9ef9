package memo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestMemoIsBounded(t *testing.T) {
	m := newMemo(20 * 512)
	key := func(i int) Key { return Key{JSON, "", fmt.Sprint("key ", i)} }
	for i := range 100 {
		if _, known, err := Recall(m, key(i), func() (int, error) { return i, nil }); known || err != nil {
			t.Fatal(i, known, err)
		}
		if v, known, _ := Recall(m, key(0), func() (int, error) { return 0, nil }); !known || v != 0 {
			t.Fatalf("after %d: a frequently used answer was dropped", i)
		}
	}
	if m.size > m.limit || m.recent.Len() != len(m.answers) || len(m.answers) < 10 {
		t.Errorf("%d bytes of %d in %d and %d answers", m.size, m.limit, m.recent.Len(), len(m.answers))
	}
	if _, ok := m.Get(key(1)); ok {
		t.Error("the oldest was not dropped")
	}
	m.Put(Key{JSON, "", strings.Repeat("x", m.limit)}, 1, 0)
	if len(m.answers) < 10 {
		t.Error("a large answer pushed all others out")
	}
}

func TestMemoForgetsErrorsAndKeepsKindsApart(t *testing.T) {
	m := New()
	boom := errors.New("boom")
	if _, _, err := Recall(m, Key{Kind: JSON, Content: "x"}, func() (int, error) { return 0, boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	for i, kind := range []Kind{JSON, Document} {
		v, known, err := Recall(m, Key{Kind: kind, Content: "x"}, func() (int, error) { return i, nil })
		if v != i || known || err != nil {
			t.Errorf("kind %d: %d, %v, %v", kind, v, known, err)
		}
	}
	var none *Memo
	if v, known, err := Recall(none, Key{}, func() (int, error) { return 7, nil }); v != 7 || known || err != nil {
		t.Errorf("no memo: %d, %v, %v", v, known, err)
	}
}
