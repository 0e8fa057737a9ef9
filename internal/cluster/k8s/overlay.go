package k8s

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

// Overlay writes a kubeconfig into dir, which it creates. The kubeconfig selects the context and namespace of k and
// nothing else. Overlay returns the value of KUBECONFIG that puts this file before the user's own files, because the
// first file that sets a value wins. Commands that hone starts thus work on the same cluster as hone, and no credential
// is copied. The file's name is a hash of its content, so sessions with the same selection share it and nothing has to
// be removed. Overlay returns "" when the user's files already select the same context and namespace.
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
	path, err := writeOverlay(dir, overlay)
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig for local commands: %w", err)
	}
	files := append([]string{path}, k.rules.GetLoadingPrecedence()...)
	if k.rules.ExplicitPath != "" {
		files = []string{path, k.rules.ExplicitPath}
	}
	return strings.Join(files, string(os.PathListSeparator)), nil
}

func writeOverlay(dir string, overlay *clientcmdapi.Config) (string, error) {
	text, err := clientcmd.Write(*overlay)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	path := filepath.Join(dir, hex.EncodeToString(sum[:8]))
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, text, 0o600)
}
