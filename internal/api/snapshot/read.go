package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// maxSize limits how much of a file is read. It is far above the size of files that Write creates.
const maxSize = 2 << 30

// createMend explains how to create a snapshot.
const createMend = "create one with hone snapshot create FILE, or with hone ci --output-snapshot-on-exit FILE"

// Read reads a snapshot that Write wrote. name is the name of the file, for messages. A file that is not a snapshot is a
// problem.
func Read(r io.Reader, name string) (api.Snapshot, error) {
	var s api.Snapshot
	limited := &io.LimitedReader{R: r, N: maxSize}
	err := json.NewDecoder(limited).Decode(&s)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case limited.N == 0:
		return s, problem.New(fmt.Sprintf("%s is longer than any snapshot", name), createMend)
	case errors.Is(err, io.EOF):
		return s, problem.New(name+" is empty", createMend)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s, problem.New(name+" is incomplete: it ends in the middle", createMend)
	case errors.As(err, &syntax), errors.As(err, &kind) && s.SnapshotVersion == 0:
		return s, problem.Wrap(err, name+" is not a snapshot", createMend)
	case s.SnapshotVersion > api.SnapshotVersion:
		return s, problem.New(fmt.Sprintf("%s has snapshot version %d, but this hone supports only %d", name, s.SnapshotVersion, api.SnapshotVersion),
			fmt.Sprintf("view it with a newer hone: it was created by v%s", s.Version))
	case err != nil:
		return s, fmt.Errorf("read %s: %w", name, err)
	case s.SnapshotVersion == 0:
		return s, problem.New(name+" is not a snapshot of hone: it has no snapshotVersion", createMend)
	}
	return s, nil
}

// Restore returns the state of the session that a snapshot holds. Secrets stay redacted. Tables and fields that this version
// of hone does not have are dropped, and so are events, whose values can be of any type.
func Restore(s api.Snapshot) (store.View, error) { return restore(s, nil) }

func restore(s api.Snapshot, amend func(value any) any) (store.View, error) {
	kept, err := read(s.Tables, s.Version, amend)
	if err != nil {
		return store.View{}, err
	}
	restored, err := store.Restore(state.Schema, s.Snapshot, s.CreatedAt, kept)
	if err != nil {
		return store.View{}, fmt.Errorf("restore the snapshot: %w", err)
	}
	return restored.All(), nil
}

// read returns the values of entries, by table, of a session that a version of hone runs. amend changes them, unless it is nil.
func read(of map[string][]api.TableEntry, version string, amend func(value any) any) (map[string][]store.Kept, error) {
	kept := map[string][]store.Kept{}
	for _, t := range state.Schema.Tables() {
		if t.Name == state.Events.Name() {
			continue
		}
		for _, e := range of[t.Name] {
			value := reflect.New(t.Value)
			d := json.NewDecoder(bytes.NewReader(e.Entry))
			d.UseNumber()
			var tree any
			err := d.Decode(&tree)
			if err == nil {
				err = tables.Read(tree, value.Interface())
			}
			if err != nil {
				return nil, problem.Wrap(fmt.Errorf("%s %s: %w", t.Name, e.ID, err), "the snapshot has content that this version of hone does not understand",
					fmt.Sprintf("view it with the version of hone that created it, v%s", version))
			}
			is := value.Elem().Interface()
			if amend != nil {
				is = amend(is)
			}
			kept[t.Name] = append(kept[t.Name], store.Kept{Value: is, Meta: store.Meta{ID: e.ID, Version: e.Version, Owner: e.Owner,
				Phase: store.Phase(e.Phase), Finalizers: e.Finalizers, Labels: e.Labels, Created: e.Created, Updated: e.Updated}})
		}
	}
	return kept, nil
}

// Replay writes lines of a snapshot to a store, where they get new numbers.
func Replay(lines []api.LogLine, logs *logstore.Store) {
	for _, l := range lines {
		logs.Append(logstore.Entry{Time: l.Time, Resource: model.ManifestName(l.Resource), Span: l.Span, Source: logstore.Source(l.Source), Level: logstore.ParseLevel(l.Level),
			Continues: l.Continues, Prefix: l.Prefix, Pod: l.Pod, Container: l.Container, Text: l.Text, ProgressID: l.ProgressID, ProgressDone: l.ProgressDone})
	}
}
