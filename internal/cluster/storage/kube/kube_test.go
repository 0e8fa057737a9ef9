package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func open(t testing.TB, c Cluster) *Storage {
	t.Helper()
	s, err := Open("kube://", c, deploytest.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func save(t testing.TB, s *Storage, name string, data []byte, was storage.Version) storage.Version {
	t.Helper()
	is, err := s.Save(t.Context(), name, data, was)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// large returns data that needs n shards and begins with a mark.
func large(mark string, n int) []byte {
	return append([]byte(mark), make([]byte, n*shardSize-len(mark))...)
}

// shards returns the names of the shards in the cluster.
func shards(c *deploytest.Server) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.Objects("secrets"))), func(name string) bool {
		return c.Objects("secrets")[name].GetLabels()[labelKind] != kindShard
	})
}

func wantProblem(t *testing.T, err error, words ...string) {
	t.Helper()
	if _, ok := problem.Of(err); !ok {
		t.Fatalf("no problem: %v", err)
	}
	for _, w := range words {
		if !strings.Contains(problem.Text(err), w) {
			t.Errorf("the problem lacks %q: %s", w, problem.Text(err))
		}
	}
}

func TestConformance(t *testing.T) {
	c := deploytest.New()
	storagetest.Conformance(t, func(t *testing.T) storage.Storage { return open(t, c) })
	if left := shards(c); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestOpen(t *testing.T) {
	for url, want := range map[string]string{"kube://": "kube://shop", "kube://ledgers": "kube://ledgers", "kube://ledgers/": "kube://ledgers"} {
		if s, err := Open(url, deploytest.New(), "shop"); err != nil || s.String() != want {
			t.Errorf("%s opens %s, %v", url, s, err)
		}
	}
	for _, url := range []string{"kube://Ledgers", "kube://a.b", "kube://ns/path", "kube://ns:80", "kube://me@ns", "kube://ns?a=b", "http://ns"} {
		_, err := Open(url, deploytest.New(), "shop")
		wantProblem(t, err, "kube://NAMESPACE")
	}
}

// TestShards checks the sizes of the Secrets of a large document, and that replaced ones go.
func TestShards(t *testing.T) {
	c := deploytest.New()
	s := open(t, c)
	v := save(t, s, "a", large("one", 4), storage.None)
	first := shards(c)
	if len(first) != 4 {
		t.Errorf("shards %q", first)
	}
	for name, secret := range c.Objects("secrets") {
		if size := sizeOf(t, secret); size >= 1<<20 {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	v = save(t, s, "a", large("two", 2), v)
	second := shards(c)
	if len(second) != 2 || slices.Contains(first, second[0]) {
		t.Errorf("shards %q after %q", second, first)
	}
	v = save(t, s, "a", []byte("three"), v)
	if left := shards(c); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	v = save(t, s, "a", large("four", 2), v)
	if err := s.Delete(t.Context(), "a", v); err != nil {
		t.Fatal(err)
	}
	if left := c.Objects("secrets"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// sizeOf returns the size of a Secret's data.
func sizeOf(t testing.TB, u *unstructured.Unstructured) (size int) {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(u.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	for key := range data {
		v, err := value(u, key)
		if err != nil {
			t.Fatal(err)
		}
		size += len(v)
	}
	return size
}

// TestOrphans kills a writer between its shards and the document.
func TestOrphans(t *testing.T) {
	for name, was := range map[string]string{"a new document": "", "an old document": "old"} {
		t.Run(name, func(t *testing.T) {
			c := deploytest.New()
			s := open(t, c)
			v := storage.None
			if was != "" {
				v = save(t, s, "a", []byte(was), v)
			}
			c.Before = func(verb, _, name string) error {
				if verb == "update" {
					return errors.New("killed")
				}
				return nil
			}
			if _, err := s.Save(t.Context(), "a", large("one", 2), v); err == nil {
				t.Fatal("saved")
			}
			c.Before = nil
			if doc, err := s.Load(t.Context(), "a"); string(doc.Data) != was || errors.Is(err, storage.ErrMissing) != (was == "") {
				t.Errorf("Load: %q, %v", doc.Data, err)
			}
			if names, err := s.List(t.Context(), ""); err != nil || (len(names) == 0) != (was == "") {
				t.Errorf("List: %q, %v", names, err)
			}
			if n := len(shards(c)); n != 2 {
				t.Errorf("%d shards before", n)
			}
			save(t, s, "a", large("two", 3), v)
			if n := len(shards(c)); n != 3 {
				t.Errorf("%d shards after", n)
			}
		})
	}
}

// TestWriterAtWork lets others do everything they can between a writer's shards and its document.
func TestWriterAtWork(t *testing.T) {
	for name, others := range map[string]func(t *testing.T, s *Storage, v storage.Version){
		"nothing": func(*testing.T, *Storage, storage.Version) {},
		"a sweep": func(t *testing.T, s *Storage, _ storage.Version) { s.sweep(t.Context(), "a", true) },
		"a stale writer": func(t *testing.T, s *Storage, _ storage.Version) {
			_, _ = s.Save(t.Context(), "a", large("x", 2), "stale")
		},
		"another writer": func(t *testing.T, s *Storage, v storage.Version) { save(t, s, "a", large("other", 2), v) },
		"members": func(t *testing.T, s *Storage, _ storage.Version) {
			_ = s.SetMembers(t.Context(), "a", []string{"ConfigMap"}, nil)
		},
		"deleted and made again": func(t *testing.T, s *Storage, v storage.Version) {
			if v == storage.None {
				v = save(t, s, "a", large("other", 2), v)
			}
			if err := s.Delete(t.Context(), "a", v); err != nil {
				t.Fatal(err)
			}
			save(t, s, "a", large("other", 2), storage.None)
		},
		"deleted and reserved again": func(t *testing.T, s *Storage, v storage.Version) {
			v = save(t, s, "a", large("other", 2), v)
			if err := s.Delete(t.Context(), "a", v); err != nil {
				t.Fatal(err)
			}
			if _, err := s.secrets.Create(t.Context(), newReservation("a", "again"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			s.sweep(t.Context(), "a", true)
		},
	} {
		for _, was := range []string{"", "old"} {
			t.Run(name+" over "+was, func(t *testing.T) {
				c := deploytest.New()
				s := open(t, c)
				v := storage.None
				if was != "" {
					v = save(t, s, "a", []byte(was), v)
				}
				c.Before = func(verb, _, _ string) error {
					if verb == "update" {
						c.Before = nil
						others(t, s, v)
					}
					return nil
				}
				is, err := s.Save(t.Context(), "a", large("mine", 3), v)
				if err != nil && !errors.Is(err, storage.ErrStale) {
					t.Fatal(err)
				}
				doc, loadErr := s.Load(t.Context(), "a")
				switch {
				case err == nil && (doc.Version != is || string(doc.Data) != string(large("mine", 3))):
					t.Errorf("saved %q, but there is %q, %v", is, doc.Version, loadErr)
				case loadErr != nil && !errors.Is(loadErr, storage.ErrMissing):
					t.Error(loadErr)
				}
				s.sweep(t.Context(), "a", true)
				if again, err := s.Load(t.Context(), "a"); string(again.Data) != string(doc.Data) || err != nil && loadErr == nil {
					t.Errorf("after a sweep: %v", err)
				}
			})
		}
	}
}

// lossy loses answers to writes. As the transport of the cluster's client does, it sends the request again.
type lossy struct {
	k8s.Secrets
	again bool
	n     *atomic.Int64
}

func (l lossy) send(ctx context.Context, request func() error) error {
	once := func() error {
		err := request()
		if n := l.n.Add(1); err == nil && n%2 == 0 {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	if !l.again {
		return once()
	}
	return k8s.Persist(ctx, once)
}

func (l lossy) Create(ctx context.Context, u *unstructured.Unstructured, opts metav1.CreateOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	err = l.send(ctx, func() (err error) { got, err = l.Secrets.Create(ctx, u, opts); return err })
	return got, err
}

func (l lossy) Update(ctx context.Context, u *unstructured.Unstructured, opts metav1.UpdateOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	err = l.send(ctx, func() (err error) { got, err = l.Secrets.Update(ctx, u, opts); return err })
	return got, err
}

func (l lossy) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, _ ...string) error {
	return l.send(ctx, func() error { return l.Secrets.Delete(ctx, name, opts) })
}

func TestLostAnswers(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("sent again %v", again), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, deploytest.New())
				s.secrets = lossy{s.secrets, again, new(atomic.Int64)}
				v := storage.None
				for i := range 20 {
					data := []byte(fmt.Sprint(i))
					if i%4 == 3 {
						data = large(string(data), 2)
					}
					v = save(t, s, "a", data, v)
					doc, err := s.Load(t.Context(), "a")
					if err != nil || doc.Version != v || string(doc.Data) != string(data) {
						t.Fatalf("%d: version %q, %v; want %q", i, doc.Version, err, v)
					}
				}
				lossyWriters(t, s, s, 30)
			})
		})
	}
}

// lossyWriters lets two writers add lines; a checker reads them.
func lossyWriters(t *testing.T, a, b storage.Storage, lines int) {
	t.Helper()
	ended := make(chan error, 2)
	for w, s := range []storage.Storage{a, b} {
		go func() {
			for i := range lines {
				if err := storagetest.Append(t.Context(), s, "lines", fmt.Sprintf("%d %d\n", w, i)); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Fatal(err)
	}
	doc, err := a.Load(t.Context(), "lines")
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Complete(t, doc.Data, 2, lines)
}

func TestForeignSecret(t *testing.T) {
	for name, change := range map[string]func(u *unstructured.Unstructured){
		"type":  func(u *unstructured.Unstructured) { u.Object["type"] = "Opaque" },
		"label": func(u *unstructured.Unstructured) { u.SetLabels(nil) },
		"name":  func(u *unstructured.Unstructured) { annotate(u, map[string]string{annotationName: "b"}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := deploytest.New()
			s := open(t, c)
			foreign := newParent("a")
			annotate(foreign, map[string]string{annotationVersion: "v"})
			foreign.SetNamespace(deploytest.Namespace)
			change(foreign)
			c.Put("secrets", foreign)
			_, err := s.Save(t.Context(), "a", nil, "v")
			wantProblem(t, err, "does not come from hone", foreign.GetName())
			wantProblem(t, s.Delete(t.Context(), "a", "v"), "does not come from hone")
			wantProblem(t, s.SetMembers(t.Context(), "a", nil, nil), "does not come from hone")
			if c.Count("update")+c.Count("create")+c.Count("delete") > 0 {
				t.Error("written")
			}
		})
	}
}

func TestProblems(t *testing.T) {
	c := deploytest.New()
	c.Before = func(verb, resource, name string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, name, errors.New("no role"))
	}
	s := open(t, c)
	_, err := s.Load(t.Context(), "a")
	wantProblem(t, err, `Secrets of namespace "ns1"`, "--verb=get,list,create,update,delete --resource=secrets", "-n ns1")
	_, err = s.List(t.Context(), "")
	wantProblem(t, err, "--verb=get,list")
	none, err := Open("kube://none", deploytest.New(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = none.Save(t.Context(), "a", nil, storage.None)
	wantProblem(t, err, `namespace "none" does not exist`, "kubectl create namespace none")

	c = deploytest.New()
	s = open(t, c)
	save(t, s, "a", large("one", 2), storage.None)
	c.Remove("secrets", shards(c)[0])
	_, err = s.Load(t.Context(), "a")
	wantProblem(t, err, "is damaged")
}

func TestApplySet(t *testing.T) {
	c := deploytest.New()
	s := open(t, c)
	if err := s.SetMembers(t.Context(), "a", nil, nil); !errors.Is(err, storage.ErrMissing) {
		t.Errorf("no document: %v", err)
	}
	v := save(t, s, "a", []byte("one"), storage.None)
	for range 2 {
		if err := s.SetMembers(t.Context(), "a", []string{"Deployment.apps", "ConfigMap", "ConfigMap"}, []string{"other", deploytest.Namespace}); err != nil {
			t.Fatal(err)
		}
	}
	v = save(t, s, "a", []byte("two"), v)
	if n := c.Count("update"); n != 2 {
		t.Errorf("%d updates", n)
	}
	parent := c.Objects("secrets")[secretName("a")]
	if got := parent.GetLabels()[labelApplySet]; got != s.ApplySet("a") || len(got) > 63 {
		t.Errorf("label %q", got)
	}
	want := map[string]string{annotationName: "a", annotationVersion: string(v), annotationTooling: "hone/v1",
		annotationKinds: "ConfigMap,Deployment.apps", annotationNamespaces: "other"}
	if got := parent.GetAnnotations(); !maps.Equal(got, want) {
		t.Errorf("annotations %q", got)
	}
}
