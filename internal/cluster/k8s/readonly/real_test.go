package readonly_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/cluster/k8s/readonly"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader returns a client with a kubeconfig of an Access.
func reader(t *testing.T, a *readonly.Access, namespaces ...string) corev1client.CoreV1Interface {
	t.Helper()
	k, err := a.Kubeconfig(t.Context(), namespaces, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(k.ExpiresAt); left < time.Minute || left > 2*time.Hour {
		t.Errorf("the token ends in %s", left)
	}
	rc, err := clientcmd.RESTConfigFromKubeConfig([]byte(k.Kubeconfig))
	if err != nil {
		t.Fatalf("%v\n%s", err, k.Kubeconfig)
	}
	hc, err := rest.HTTPClientFor(rc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hc.CloseIdleConnections)
	core, err := corev1client.NewForConfigAndClient(rc, hc)
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// accounts counts the accounts that the package has created in a namespace.
func accounts(t *testing.T, r *k8stest.Real) (n int) {
	t.Helper()
	list, err := r.Core.ServiceAccounts(r.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sa := range list.Items {
		if strings.HasPrefix(sa.Name, "hone-read-only-") {
			n++
		}
	}
	return n
}

// files returns the names of the files in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(entries, " ")
}

// TestRealReader reads with the kubeconfig, and tries to do more.
func TestRealReader(t *testing.T) {
	one, two := k8stest.NewReal(t), k8stest.NewReal(t)
	dir := filepath.Join(t.TempDir(), "read-only")
	a := readonly.New(one.Client, dir)
	if err := a.Remove(t.Context()); err != nil || files(t, dir) != "" {
		t.Errorf("removed before anything was created: %v, %s", err, files(t, dir))
	}
	ctx := t.Context()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	for i, spaces := range [][]string{{one.Namespace}, {one.Namespace, two.Namespace}} {
		core := reader(t, a, spaces...)
		// The authorizer of the API server learns of a new binding from its watch, a moment later.
		k8stest.Eventually(t, "the right to read", func() error {
			_, err := core.Pods(spaces[len(spaces)-1]).List(ctx, metav1.ListOptions{})
			return err
		})
		for what, try := range map[string]func() error{
			"read Secrets": func() error { _, err := core.Secrets(one.Namespace).List(ctx, metav1.ListOptions{}); return err },
			"write": func() error {
				_, err := core.ConfigMaps(one.Namespace).Create(ctx, config, metav1.CreateOptions{})
				return err
			},
			"delete":                 func() error { return core.Pods(one.Namespace).Delete(ctx, "x", metav1.DeleteOptions{}) },
			"read another namespace": func() error { _, err := core.Pods("kube-system").List(ctx, metav1.ListOptions{}); return err },
		} {
			if err := try(); !apierrors.IsForbidden(err) {
				t.Errorf("%d: may %s: %v", i, what, err)
			}
		}
	}
	if n := accounts(t, one); n != 1 {
		t.Errorf("%d accounts", n)
	}
	core := reader(t, a, one.Namespace)
	if err := a.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if n, left := accounts(t, one), files(t, dir); n != 0 || left != "" {
		t.Errorf("%d accounts and the files %q are left", n, left)
	}
	k8stest.Eventually(t, "the end of the token", func() error {
		_, err := core.Pods(one.Namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
			return nil
		}
		return fmt.Errorf("not refused: %w", err)
	})
	reader(t, a, one.Namespace)
	if err := a.Remove(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestRealSweep deletes the objects of killed sessions, and nothing else.
func TestRealSweep(t *testing.T) {
	r := k8stest.NewReal(t)
	for name, forget := range map[string]bool{"killed": false, "killed before the cluster answered": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "read-only")
			living, dead := readonly.New(r.Client, dir), readonly.New(r.Client, dir)
			reader(t, living, r.Namespace)
			reader(t, dead, r.Namespace)
			account, err := readonly.Kill(dead, forget)
			if err != nil {
				t.Fatal(err)
			}
			elsewhere := filepath.Join(dir, "hone-read-only-elsewhere.json")
			if err := os.WriteFile(elsewhere, []byte(`{"name":"hone-read-only-elsewhere","server":"https://other","objects":[{"resource":"serviceaccounts","namespace":"x"}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := readonly.Sweep(t.Context(), r.Client, dir); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Core.ServiceAccounts(r.Namespace).Get(t.Context(), account, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the account is left: %v", err)
			}
			if n := accounts(t, r); n != 1 {
				t.Errorf("%d accounts, want the one of the living session", n)
			}
			if _, err := os.Stat(elsewhere); err != nil {
				t.Errorf("the note about another cluster: %v", err)
			}
			if err := living.Remove(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("another object of the same name", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "read-only")
		for _, forget := range []bool{false, true} {
			a := readonly.New(r.Client, dir)
			reader(t, a, r.Namespace)
			account, err := readonly.Kill(a, forget)
			if err != nil {
				t.Fatal(err)
			}
			theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}
			all := r.Core.ServiceAccounts(r.Namespace)
			if err := all.Delete(t.Context(), account, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := all.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := readonly.Sweep(t.Context(), r.Client, dir); err != nil {
				t.Fatal(err)
			}
			if _, err := all.Get(t.Context(), account, metav1.GetOptions{}); err != nil {
				t.Errorf("it was deleted: %v", err)
			}
			if err := all.Delete(t.Context(), account, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if left := files(t, dir); left != "" {
			t.Errorf("%s is left", left)
		}
	})
}
