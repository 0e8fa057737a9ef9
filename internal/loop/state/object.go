package state

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// The owners of declared objects, as entries name them.
const (
	tiltfileOwner = "TiltfileLoader"
	// APIOwner owns the objects that were declared through the session's API. The Tiltfile neither changes nor removes
	// them.
	APIOwner = "API"
)

// lastInOrder is the place of objects that no Tiltfile declares.
const lastInOrder = math.MaxInt32

// ObjectsDeclared reports that a client declares objects, or changes objects that a client declared. Of the Tiltfile's
// objects only the data of config maps may be changed; the change lasts until the Tiltfile is evaluated again. The
// dispatcher must check that the other names are free: objects that the Tiltfile declares, and objects that are being torn
// down, stay as they are.
type ObjectsDeclared struct {
	Buttons        []model.Button
	Commands       []model.Command
	ConfigMaps     []model.ConfigMap
	FileWatches    []model.FileWatch
	ExtensionRepos []model.ExtensionRepo
	Extensions     []model.Extension
}

// ObjectsWithdrawn reports that objects, by name, that were declared from outside are no longer wanted.
type ObjectsWithdrawn struct {
	Buttons        []string
	Commands       []string
	ConfigMaps     []string
	FileWatches    []string
	ExtensionRepos []string
	Extensions     []string
}

func init() {
	store.On(Buttons, func(d *store.Draft[Button], a ObjectsDeclared) {
		for _, b := range a.Buttons {
			putForeign(d, b.Name, b.Labels, func(was Button) Button {
				was.Button, was.Order = b, lastInOrder
				return was
			})
		}
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a ObjectsDeclared) {
		for _, c := range a.Commands {
			putForeign(d, c.Name, c.Labels, func(was DeclaredCommand) DeclaredCommand {
				return was.redeclared(c, lastInOrder, d.Now())
			})
		}
	})
	store.On(FileWatches, func(d *store.Draft[FileWatch], a ObjectsDeclared) {
		for _, w := range a.FileWatches {
			putForeign(d, w.Name, w.Labels, func(was FileWatch) FileWatch {
				was.FileWatch = w
				return was
			})
		}
	})
	store.On(ConfigMaps, func(d *store.Draft[model.ConfigMap], a ObjectsDeclared) {
		for _, m := range a.ConfigMaps {
			if e := d.Ref(m.Name); e != nil && e.Owner == tiltfileOwner {
				was := e.Value
				was.Data = m.Data
				d.Put(m.Name, was)
				continue
			}
			putForeign(d, m.Name, m.Labels, func(model.ConfigMap) model.ConfigMap { return m })
		}
	})
	store.On(Buttons, func(d *store.Draft[Button], a ObjectsWithdrawn) { withdraw(d, a.Buttons) })
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a ObjectsWithdrawn) { withdraw(d, a.Commands) })
	store.On(FileWatches, func(d *store.Draft[FileWatch], a ObjectsWithdrawn) { withdraw(d, a.FileWatches) })
	store.On(ConfigMaps, func(d *store.Draft[model.ConfigMap], a ObjectsWithdrawn) { withdraw(d, a.ConfigMaps) })
}

// putForeign puts an object that a client declares.
func putForeign[T any](d *store.Draft[T], id string, labels map[string]string, next func(was T) T) {
	if e := d.Ref(id); e == nil || foreign(e) {
		d.PutOwned(id, APIOwner, labels, next(d.Value(id)))
	}
}

func withdraw[T any](d *store.Draft[T], names []string) {
	for _, name := range names {
		if e := d.Ref(name); e != nil && e.Owner == APIOwner {
			d.Teardown(name)
		}
	}
}

// declareEach makes a table hold the Tiltfile's declarations: next makes the new value of an entry from the old, or from the zero
// value if there is none; entries that are no longer declared are torn down. Objects declared from outside stay as they are.
func declareEach[T, M any](d *store.Draft[T], list []M, name func(M) (string, map[string]string), next func(was T, order int, m M) T) {
	declared := map[string]bool{}
	for i, m := range list {
		id, labels := name(m)
		declared[id] = true
		was := d.Ref(id)
		if was != nil && was.Owner == APIOwner {
			continue
		}
		if value := next(d.Value(id), i, m); was == nil || !reflect.DeepEqual(was.Value, value) {
			d.PutOwned(id, tiltfileOwner, labels, value)
		}
	}
	for e := range d.Refs() {
		if !declared[e.ID] && e.Owner != APIOwner {
			d.Teardown(e.ID)
		}
	}
}

// Clash returns an object of a Tiltfile whose name is already taken by an object declared from outside: "Cmd "lint"". It is
// empty if there is none.
func Clash(v store.View, objects model.APIObjects) string {
	return cmp.Or(
		clash(Buttons.In(v), "UIButton", objects.Buttons, func(b model.Button) string { return b.Name }),
		clash(Commands.In(v), "Cmd", objects.Commands, func(c model.Command) string { return c.Name }),
		clash(FileWatches.In(v), "FileWatch", objects.FileWatches, func(w model.FileWatch) string { return w.Name }),
		clash(ConfigMaps.In(v), "ConfigMap", objects.ConfigMaps, func(m model.ConfigMap) string { return m.Name }),
		clash(ExtensionRepos.In(v), "ExtensionRepo", objects.ExtensionRepos, func(r model.ExtensionRepo) string { return r.Name }),
		clash(Extensions.In(v), "Extension", objects.Extensions, func(e model.Extension) string { return e.Name }),
	)
}

func clash[T, M any](rows store.Rows[T], kind string, declared []M, name func(M) string) string {
	for _, m := range declared {
		if e := rows.Ref(name(m)); e != nil && foreign(e) {
			return fmt.Sprintf("%s %q", kind, e.ID)
		}
	}
	return ""
}

// foreign reports whether a client has declared an entry, and has not withdrawn it.
func foreign[T any](e *store.Entry[T]) bool { return e.Owner == APIOwner && e.Phase == store.Running }
