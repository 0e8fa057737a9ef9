//go:build tools

// Package helm pins the version of Helm that build makes.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
