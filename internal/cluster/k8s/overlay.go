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

// Overlay writes a kubeconfig into dir, which it makes, that chooses the context and namespace of k and nothing else, and returns the
// value of KUBECONFIG that puts it before the user's own files: the first file that says something wins. So commands that
// hone starts work on the same cluster as hone does, and no credential is copied. The file is named for its content, so
// sessions that want the same share it and nothing has to be removed. It returns "" when the user's files choose the same
// by themselves.
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
