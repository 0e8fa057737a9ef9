package k8s

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Overlay writes a kubeconfig into dir that chooses the context and namespace of k and nothing else, and returns the
// value of KUBECONFIG that puts it before the user's own files: the first file that says something wins. So commands that
// hone starts work on the same cluster as hone does, and no credential is copied. It returns "" when the user's files
// choose the same by themselves.
func (k *Kubeconfig) Overlay(dir string) (string, error) {
	ctx, ok := k.raw.Contexts[k.context]
	if !ok || k.context == k.raw.CurrentContext && k.cfg.Namespace == "" {
		return "", nil
	}
	chosen := clientcmdapi.NewContext()
	chosen.Cluster, chosen.AuthInfo, chosen.Namespace = ctx.Cluster, ctx.AuthInfo, k.namespace(ctx)
	overlay := clientcmdapi.NewConfig()
	overlay.CurrentContext = k.context
	overlay.Contexts[k.context] = chosen
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*overlay, path); err != nil {
		return "", fmt.Errorf("write the kubeconfig for local commands: %w", err)
	}
	files := append([]string{path}, k.rules.GetLoadingPrecedence()...)
	if k.rules.ExplicitPath != "" {
		files = []string{path, k.rules.ExplicitPath}
	}
	return strings.Join(files, string(os.PathListSeparator)), nil
}
