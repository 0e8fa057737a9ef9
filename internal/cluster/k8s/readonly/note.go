package readonly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

// extension is the extension of notes, and locked of their locks.
const (
	extension = ".json"
	locked    = ".lock"
)

// note names the objects of an Access. All have its name.
type note struct {
	Name string `json:"name"`
	// Namespace holds the ServiceAccount, and Server is the cluster.
	Namespace string   `json:"namespace"`
	Server    string   `json:"server"`
	Objects   []object `json:"objects"`
}

// object is an object of an Access. Its UID is empty until the cluster has confirmed its creation.
type object struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"`
}

func (o object) same(p object) bool { return o.Resource == p.Resource && o.Namespace == p.Namespace }

func (o object) client(c Client) dynamic.ResourceInterface {
	kind := accounts
	if o.Resource == bindings.Resource {
		kind = bindings
	}
	return c.Dynamic().Resource(kind).Namespace(o.Namespace)
}

func (n note) path(dir string) string { return filepath.Join(dir, n.Name+extension) }
func (n note) lock(dir string) string { return filepath.Join(dir, n.Name+locked) }

func (n note) write(dir string) error {
	doc, err := json.Marshal(n)
	if err == nil {
		err = atomicfile.Write(n.path(dir), doc, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note what is about to be created: %w", err)
	}
	return nil
}

func read(path string) (n note, err error) {
	doc, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil // another session has swept
	}
	if err == nil {
		err = json.Unmarshal(doc, &n)
	}
	if err == nil && filepath.Base(path) != n.Name+extension {
		err = errors.New("it has the name of another one")
	}
	if err != nil {
		return n, fmt.Errorf("read the note %s: %w", path, err)
	}
	return n, nil
}

// remove deletes the objects, the bindings before the account, and then the note.
func (n note) remove(ctx context.Context, c Client, dir string) error {
	for i := len(n.Objects) - 1; i >= 0; i-- {
		if err := n.delete(ctx, c, n.Objects[i]); err != nil {
			return fmt.Errorf("delete %s %s in namespace %s: %w", n.Objects[i].Resource, n.Name, n.Objects[i].Namespace, err)
		}
	}
	return os.Remove(n.path(dir))
}

// delete deletes an object, unless it is another one of the same name.
func (n note) delete(ctx context.Context, c Client, o object) error {
	uid := types.UID(o.UID)
	if uid == "" { // killed before the answer to its creation
		is, err := o.client(c).Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return gone(err)
		}
		if is.GetLabels()[label] != n.Name {
			return nil
		}
		uid = is.GetUID()
	}
	err := o.client(c).Delete(ctx, n.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsConflict(err) {
		return nil // another object by now
	}
	return gone(err)
}

// gone returns err, unless it says that there is nothing to delete.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
