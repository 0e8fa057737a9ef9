// Package jsonpath finds and replaces values in decoded JSON by the paths that Kubernetes users know from kubectl:
// "{.spec.image}", "{.spec.nodes[*].image}", "{..image}". It holds no state and starts nothing.
package jsonpath
