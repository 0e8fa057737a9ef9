package builderpod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"

	"github.com/hone-dev/hone/pkg/model"
)

// baseName begins the names of all builders.
const baseName = "hone-builder"

// nameOf returns the name of a builder's objects, and of its resource in the ledger. It follows from the settings: projects of a namespace whose
// settings are equal share a builder, and others do not take it from them.
func nameOf(pod model.BuilderPod) string {
	pod.Namespace = "" // all objects have it
	for _, m := range []*map[string]string{&pod.Requests, &pod.Limits, &pod.NodeSelector} {
		if len(*m) == 0 {
			*m = nil
		}
	}
	if reflect.DeepEqual(pod, model.BuilderPod{}) {
		return baseName
	}
	text, _ := json.Marshal(pod) // never an error: these are texts, and maps in the order of their keys
	sum := sha256.Sum256(text)
	return baseName + "-" + hex.EncodeToString(sum[:4])
}
