package projection

import (
	"cmp"
	"iter"
	"path"
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	ext "github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	kindExtension     = "Extension"
	kindExtensionRepo = "ExtensionRepo"
)

func extension() Kind {
	type object = *v1alpha1.Extension
	return Kind{
		Name: kindExtension, ShortNames: []string{"ext"},
		Doc:    "Extension is one extension from an extension repository: load('ext://NAME') loads it; if nothing loads it, it is evaluated on its own.",
		Tables: tables(state.Extensions),
		Items: func(v store.View) iter.Seq[Item] {
			s := sourceOf(v)
			var items []Item
			for e := range state.Extensions.In(v).Refs() {
				why := s.tiltfile.Value.Result.LeftOut[e.ID]
				items = append(items, item(s, kindExtension, e.ID, digest(0).entry(&e.Meta).word(why), func() *v1alpha1.Extension {
					return &v1alpha1.Extension{ObjectMeta: metaOf(&e.Meta, e.Value.Annotations), Status: v1alpha1.ExtensionStatus{Error: why},
						Spec: v1alpha1.ExtensionSpec{RepoName: e.Value.Repo, RepoPath: e.Value.Path, Args: slices.Clone(e.Value.Args)}}
				}))
			}
			return inOrder(items)
		},
		New: func() Object { return &v1alpha1.Extension{} },
		Columns: []Column{
			column("Repo", "The repository.", func(o object) any { return o.Spec.RepoName }),
			column("Path", "The folder in the repository.", func(o object) any { return o.Spec.RepoPath }),
			column("Error", "Why it was left out.", func(o object) any { return o.Status.Error }),
		},
		Write: writeExtension,
	}
}

func extensionRepo() Kind {
	type object = *v1alpha1.ExtensionRepo
	return Kind{
		Name: kindExtensionRepo, ShortNames: []string{"repo"},
		Doc:    "ExtensionRepo is a repository of extensions.",
		Tables: tables(state.ExtensionRepos),
		Items: func(v store.View) iter.Seq[Item] {
			s := sourceOf(v)
			var items []Item
			for e := range state.ExtensionRepos.In(v).Refs() {
				items = append(items, item(s, kindExtensionRepo, e.ID, digest(0).entry(&e.Meta), func() *v1alpha1.ExtensionRepo {
					r := &e.Value
					return &v1alpha1.ExtensionRepo{ObjectMeta: metaOf(&e.Meta, r.Annotations),
						Spec: v1alpha1.ExtensionRepoSpec{URL: r.URL, Ref: r.Ref, LoadHost: r.LoadHost, GitSubpath: r.GitSubpath}}
				}))
			}
			return inOrder(items)
		},
		New: func() Object { return &v1alpha1.ExtensionRepo{} },
		Columns: []Column{
			column("URL", "The address of the repository.", func(o object) any { return o.Spec.URL }),
			column("Ref", "The branch, tag or commit.", func(o object) any { return o.Spec.Ref }),
		},
		Write: writeExtensionRepo,
	}
}

// writeExtension creates, changes and deletes extensions that clients declare. The Tiltfile is then evaluated again.
func writeExtension(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	if new == nil {
		return withdrawn(v, "extensions", name, state.Extensions, state.ObjectsWithdrawn{Extensions: []string{name}})
	}
	is := new.(*v1alpha1.Extension)
	if done, err := changeable(v, "extensions", state.Extensions, old, is, func(e *v1alpha1.Extension) { e.Status = v1alpha1.ExtensionStatus{} }); done {
		return nil, err
	}
	e := model.Extension{Name: name, Meta: metaFrom(is), Repo: cmp.Or(is.Spec.RepoName, ext.DefaultRepo), Path: path.Clean(cmp.Or(is.Spec.RepoPath, name)), Args: is.Spec.Args}
	if err := (&ext.Registry{}).AddExtension(ext.Extension{Name: e.Name, RepoName: e.Repo, RepoPath: e.Path}); err != nil {
		return nil, invalid("%v", err)
	}
	return []store.Action{state.ObjectsDeclared{Extensions: []model.Extension{e}}}, nil
}

// writeExtensionRepo creates, changes and deletes repositories of extensions that clients declare.
func writeExtensionRepo(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	if new == nil {
		return withdrawn(v, "extensionrepos", name, state.ExtensionRepos, state.ObjectsWithdrawn{ExtensionRepos: []string{name}})
	}
	is := new.(*v1alpha1.ExtensionRepo)
	if done, err := changeable(v, "extensionrepos", state.ExtensionRepos, old, is, func(r *v1alpha1.ExtensionRepo) { r.Status = v1alpha1.ExtensionRepoStatus{} }); done {
		return nil, err
	}
	r := model.ExtensionRepo{Name: name, Meta: metaFrom(is), URL: is.Spec.URL, Ref: is.Spec.Ref, LoadHost: is.Spec.LoadHost, GitSubpath: is.Spec.GitSubpath}
	if err := (&ext.Registry{}).AddRepo(ext.Repo{Name: r.Name, URL: r.URL, Ref: r.Ref, LoadHost: r.LoadHost, GitSubpath: r.GitSubpath}); err != nil {
		return nil, invalid("spec: %v", err)
	}
	return []store.Action{state.ObjectsDeclared{ExtensionRepos: []model.ExtensionRepo{r}}}, nil
}
