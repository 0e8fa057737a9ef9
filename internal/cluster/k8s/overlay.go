package k8s

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

// Overlay writes a kubeconfig into dir, which it creates. The kubeconfig selects the context and namespace of k and
// nothing else. Overlay returns the value of KUBECONFIG that puts this file before the user's own files, because the
// first file that sets a value wins. Commands that hone starts thus work on the same cluster as hone, also after the user
// has chosen another one, and no credential is copied. Without a context, Overlay returns "".
//
// A command that changes the selection, such as kubectl config set-context --current, changes this file. The file is
// written again for the next run of hone. Its name is a hash of its content and of owner, so commands of other owners
// see no such change, and nothing has to be removed.
func (k *Kubeconfig) Overlay(dir, owner string) (string, error) {
	ctx, ok := k.raw.Contexts[k.context]
	if !ok {
		return "", nil
	}
	chosen := clientcmdapi.NewContext()
	chosen.Cluster, chosen.AuthInfo, chosen.Namespace = ctx.Cluster, ctx.AuthInfo, k.namespace(ctx)
	overlay := clientcmdapi.NewConfig()
	overlay.CurrentContext = k.context
	overlay.Contexts[k.context] = chosen
	path, err := writeOverlay(dir, owner, overlay)
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig for local commands: %w", err)
	}
	return path + string(os.PathListSeparator) + k.Files(), nil
}

func writeOverlay(dir, owner string, overlay *clientcmdapi.Config) (string, error) {
	text, err := clientcmd.Write(*overlay)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(owner+"\x00"), text...))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8]))
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, text, 0o600)
}
