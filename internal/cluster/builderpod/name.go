package builderpod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/hone-dev/hone/pkg/model"
)

// baseName begins the names of all builders.
const baseName = "hone-builder"

// replica is one of the pods of a builder.
type replica struct {
	model.BuilderPod
	// builder is the name of all replicas together, and name the one of this replica's objects and of its resource in the ledger.
	builder, name string
}

// replicaOf returns a replica by its number, which begins at zero. The first one has the name of the builder: it stays when others join it.
func replicaOf(pod model.BuilderPod, number int) replica {
	r := replica{BuilderPod: pod, builder: nameOf(pod)}
	r.name = r.builder
	if number > 0 {
		r.name = fmt.Sprintf("%s-%d", r.builder, number)
	}
	return r
}

// nameOf returns the name of a builder. It follows from the settings of its pods: projects of a namespace whose settings are equal share a
// builder, and others do not take it from them. Those that want more replicas share the first ones.
func nameOf(pod model.BuilderPod) string {
	pod.Cluster, pod.Namespace, pod.Replicas, pod.Platforms = "", "", 0, nil // all objects are in the first two, and none has the others
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
