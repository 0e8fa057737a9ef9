// Package jsonpath finds and replaces values in decoded JSON by JSONPath expressions as kubectl uses them:
// "{.spec.image}", "{.spec.nodes[*].image}", "{..image}". It has no state and starts no goroutines.
package jsonpath
