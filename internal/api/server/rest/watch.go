package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	// watchTime is the minimum duration of a watch that does not request one. The actual duration is up to twice as long, so
	// that watches that started together do not end together.
	watchTime = 30 * time.Minute
	// bookmarkEvery is the time between two bookmarks for a client that requests them.
	bookmarkEvery = time.Minute
)

// watcher is one watch. It belongs to the goroutine of its request.
type watcher struct {
	h *Handler
	a *answer
	k *kind
	o options
	// pos is the number of the snapshot up to which the client has received everything.
	pos uint64
	// columns are the columns of a table, and headed is set once they have been sent.
	columns []projection.Column
	headed  bool
	// out holds the events that are not written yet.
	out bytes.Buffer
}

// watchPiece is the number of bytes of events that are collected before they are written.
const watchPiece = 256 << 10

// watch serves a watch: the existing objects if the client wants them, and then the changes until the time is over. All
// checks come before the status of the answer, since no error can be reported after it.
func (h *Handler) watch(a *answer, k *kind, o options) {
	v := h.store.View()
	seq, items := k.at(v)
	wr := &watcher{h: h, a: a, k: k, o: o, pos: seq, columns: k.ColumnsIn(v)}
	initial, err := wr.begin(v)
	if err == nil && a.as == "Table" {
		_, err = h.tabulator(a, k, v)
	}
	if err != nil {
		a.fail(err)
		return
	}
	lasts := watchTime + rand.N(watchTime)
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		lasts = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(a.r.Context(), lasts)
	defer cancel()
	a.w.Header().Set("Content-Type", mediaJSON)
	a.w.WriteHeader(http.StatusOK)
	if a.r.Method == http.MethodHead {
		return
	}
	if initial && !wr.work(func() bool { return wr.initial(v, items) }) {
		return
	}
	wr.run(ctx)
}

// work creates events when it is this watch's turn, and then writes them. It reports whether the watch continues.
func (wr *watcher) work(make func() bool) bool {
	if wr.h.working.Acquire(wr.a.r.Context(), 1) != nil {
		return false
	}
	more := func() bool {
		defer wr.h.working.Release(1)
		return make()
	}()
	return wr.push() && more
}

// push writes the pending events. Only the watch itself waits for it.
func (wr *watcher) push() bool {
	access.Extend(wr.a.w)
	_, err := wr.out.WriteTo(wr.a.w)
	if wr.out.Cap() > 2*watchPiece {
		wr.out = bytes.Buffer{}
	}
	if err != nil || http.NewResponseController(wr.a.w).Flush() != nil {
		return false
	}
	access.Endless(wr.a.w)
	return true
}

// begin determines where the watch begins, and whether it first sends the existing objects.
func (wr *watcher) begin(v store.View) (initial bool, err error) {
	want, err := parseVersion(wr.o.ResourceVersion)
	if err != nil {
		return false, err
	}
	if s := wr.o.SendInitialEvents; s != nil {
		if wr.o.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan {
			return false, apierrors.NewBadRequest("sendInitialEvents needs resourceVersionMatch=NotOlderThan")
		}
		if *s {
			if want > wr.pos {
				return false, expired(want)
			}
			return true, nil
		}
	} else if wr.o.ResourceVersionMatch != "" {
		return false, apierrors.NewBadRequest("resourceVersionMatch is for lists, or with sendInitialEvents")
	}
	if want == 0 {
		return wr.o.SendInitialEvents == nil, nil
	}
	if _, _, ok := wr.k.since(v, want); !ok {
		return false, expired(want)
	}
	wr.pos = want
	return false, nil
}

// initial sends the existing objects, and reports whether that succeeded.
func (wr *watcher) initial(v store.View, items []*item) bool {
	objects := wr.h.objects(wr.k, v)
	for _, it := range items {
		if wr.o.matches(objects, it) && !wr.send(v, watch.Added, it, it.version) {
			return false
		}
	}
	if wr.o.SendInitialEvents != nil && wr.o.AllowWatchBookmarks {
		return wr.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return true
}

// run sends changes until ctx is done, the client is gone, or the watch has fallen too far behind.
func (wr *watcher) run(ctx context.Context) {
	ticker := time.NewTicker(bookmarkEvery)
	defer ticker.Stop()
	for {
		changed := wr.h.store.Changed()
		if !wr.work(wr.catchUp) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-ticker.C:
			if wr.o.AllowWatchBookmarks && !wr.work(func() bool { return wr.bookmark(nil) }) {
				return
			}
		}
	}
}

// catchUp sends the changes since the last call, and reports whether the watch continues.
func (wr *watcher) catchUp() bool {
	v := wr.h.store.View()
	seq, changes, ok := wr.k.since(v, wr.pos)
	if !ok {
		wr.write(watch.Error, mustStatus(expired(wr.pos)))
		return false
	}
	objects := wr.h.objects(wr.k, v)
	for _, c := range changes {
		was, is := wr.o.matches(objects, c.was), wr.o.matches(objects, c.is)
		sent := true
		switch {
		case was && is && objects.make(c.was).GetUID() != objects.make(c.is).GetUID():
			sent = wr.send(v, watch.Deleted, c.was, c.seq) && wr.send(v, watch.Added, c.is, c.seq)
		case was && is:
			sent = wr.send(v, watch.Modified, c.is, c.seq)
		case is:
			sent = wr.send(v, watch.Added, c.is, c.seq)
		case was:
			sent = wr.send(v, watch.Deleted, c.was, c.seq)
		}
		if !sent {
			return false
		}
	}
	wr.pos = seq
	return true
}

// send sends an event about an object, and reports whether that succeeded.
func (wr *watcher) send(v store.View, what watch.EventType, it *item, version uint64) bool {
	objects := wr.h.objects(wr.k, v)
	obj := objects.make(it)
	obj.SetResourceVersion(formatVersion(version))
	var doc []byte
	var err error
	if wr.a.as == "Table" {
		var t tabulator
		if t, err = wr.h.tabulator(wr.a, wr.k, v); err == nil {
			t.columns = wr.columns // as the client has them
			doc, err = t.single(obj, wr.a.version, !wr.headed)
			wr.headed = true
		}
	} else {
		doc, err = objects.encode(obj, wr.a.format)
	}
	if err != nil {
		wr.write(watch.Error, mustStatus(err))
		return false
	}
	return wr.write(what, wr.h.store.Redactor(v).JSON(doc))
}

// bookmark sends the resource version that the client has reached.
func (wr *watcher) bookmark(annotations map[string]string) bool {
	meta := metav1.ObjectMeta{ResourceVersion: formatVersion(wr.pos), Annotations: annotations}
	var mark any = metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: wr.k.Name, APIVersion: wr.k.Group + "/" + wr.k.Version}, ObjectMeta: meta}
	switch wr.a.as {
	case "Table":
		t := metav1.Table{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/" + wr.a.version, Kind: "Table"}, Rows: []metav1.TableRow{}}
		t.ResourceVersion = meta.ResourceVersion
		mark = t
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		mark = metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}, ObjectMeta: meta}
	}
	doc, err := json.Marshal(mark)
	if err != nil {
		return false
	}
	return wr.write(watch.Bookmark, doc)
}

// write adds an event to the pending events. If many are pending, it first sends them and lets other requests have their
// turn.
func (wr *watcher) write(what watch.EventType, doc []byte) bool {
	wr.out.WriteString(`{"type":"`)
	wr.out.WriteString(string(what))
	wr.out.WriteString(`","object":`)
	wr.out.Write(doc)
	wr.out.WriteString("}\n")
	if wr.out.Len() < watchPiece {
		return true
	}
	wr.h.working.Release(1)
	ok := wr.push()
	_ = wr.h.working.Acquire(context.Background(), 1) // the caller releases it
	return ok
}

func mustStatus(err error) []byte {
	doc, mistake := json.Marshal(status(err))
	if mistake != nil {
		return []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure"}`)
	}
	return doc
}
