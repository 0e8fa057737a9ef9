package podregistry

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// name is the name of the registry's objects, and of its resource in the ledger; relayName is the same for the relays.
	name, relayName = model.KeptRegistryName, model.KeptRegistryName + "-relay"
	// container is the name of the container in both pods.
	container = "registry"
	// configDir has the configuration of the program, and dataDir its images.
	configDir, dataDir = "/etc/hone-registry", "/var/lib/hone-registry"
	// registryFile and relayFile are the configurations of the registry and of a relay.
	registryFile, relayFile = "registry.yml", "relay.yml"
	// relayKeeps is the time for which a relay keeps layers: a node has them once it has pulled the image.
	relayKeeps = "1h"
	// user is the user of both pods: the program needs no rights.
	user = 1000
	// nameLabel has the name of the objects, and templateLabel is set on pods by a Deployment.
	nameLabel = "app.kubernetes.io/name"
)

// object is a Kubernetes object, or a part of one.
type object map[string]any

// registryIn returns the registry as a resource, and relaysIn the relays, which want it to answer when they start.
func registryIn(namespace string, is model.RegistryPod) (model.Manifest, error) {
	all := []object{config(namespace), service(namespace), registry(is, namespace)}
	if is.Storage != "" {
		all = append(all, claim(is, namespace))
	}
	return manifest(name, namespace, all...)
}

func relaysIn(namespace string, is model.RegistryPod) (model.Manifest, error) {
	return manifest(relayName, namespace, relays(is.Image, namespace))
}

// manifest returns a resource of objects.
func manifest(resource, namespace string, objects ...object) (model.Manifest, error) {
	target := &model.K8sTarget{PodReadiness: model.PodWait}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return model.Manifest{}, fmt.Errorf("registry: %w", err)
		}
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		meta, _ := o["metadata"].(object)
		called, _ := meta["name"].(string)
		target.Objects = append(target.Objects, model.K8sObject{APIVersion: version, Kind: kind, Namespace: namespace, Name: called, JSON: string(text)})
	}
	return model.Manifest{Name: model.ManifestName(resource), K8s: target}, nil
}

func meta(name, namespace string) object {
	return object{"name": name, "namespace": namespace, "labels": labels(name)}
}

// labels returns the labels of an object: its name, and one that the objects of all builders have.
func labels(name string) object {
	return object{nameLabel: name, "app.kubernetes.io/part-of": "hone-builders"}
}

// config has the configurations of the program, in its own format (distribution, "Configuring a registry"). Version 2 of the program knows no ttl.
func config(namespace string) object {
	listens := "http: {addr: \":%d\"}\nlog: {level: warn, accesslog: {disabled: true}}\n"
	stores := "version: 0.1\nstorage: {filesystem: {rootdirectory: " + dataDir + "}, delete: {enabled: true}}\n" + fmt.Sprintf(listens, model.KeptRegistryPort)
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, namespace), "data": object{
		registryFile: stores,
		relayFile:    stores + "proxy: {remoteurl: \"http://" + model.KeptRegistry(namespace, model.RegistryPod{}).Host + "\", ttl: " + relayKeeps + "}\n",
	}}
}

func service(namespace string) object {
	return object{"apiVersion": "v1", "kind": "Service", "metadata": meta(name, namespace), "spec": object{
		"selector": object{nameLabel: name}, "ports": []any{object{"name": "registry", "port": model.KeptRegistryPort, "targetPort": model.KeptRegistryPort}},
	}}
}

func registry(is model.RegistryPod, namespace string) object {
	images := onNode
	if is.Storage != "" {
		images = object{"persistentVolumeClaim": object{"claimName": claimName(is)}}
	}
	return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name, namespace), "spec": object{
		"replicas": 1,
		"strategy": object{"type": "Recreate"},
		"selector": object{"matchLabels": object{nameLabel: name}},
		"template": object{"metadata": object{"labels": labels(name)}, "spec": podSpec(is.Image, registryFile, images)},
	}}
}

func relays(image, namespace string) object {
	spec := podSpec(image, relayFile, onNode)
	spec["tolerations"] = []any{object{"operator": "Exists"}} // each node pulls
	containers, _ := spec["containers"].([]any)
	relay, _ := containers[0].(object)
	relay["ports"] = []any{object{"containerPort": model.KeptRegistryPort, "hostPort": model.KeptRegistryNodePort(namespace), "hostIP": "127.0.0.1"}}
	return object{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta(relayName, namespace), "spec": object{
		"selector": object{"matchLabels": object{nameLabel: relayName}},
		"template": object{"metadata": object{"labels": labels(relayName)}, "spec": spec},
	}}
}

// onNode is the source of a volume on the node. A pod with more is evicted, and its successor begins empty.
var onNode = object{"emptyDir": object{"sizeLimit": model.DefaultBuilderStorage}}

// claim is the claim of a volume of the images.
func claim(is model.RegistryPod, namespace string) object {
	spec := object{"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": is.Storage}}}
	if is.StorageClass != "" {
		spec["storageClassName"] = is.StorageClass
	}
	return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(claimName(is), namespace), "spec": spec}
}

// claimName returns the name of that claim. It follows from the settings, which no claim can change.
func claimName(is model.RegistryPod) string {
	return strings.ToLower(strings.TrimSuffix(name+"-"+is.Storage+"-"+is.StorageClass, "-"))
}

// podSpec is the same as "kubectl explain pod.spec" has it. images is the source of the volume of the images.
func podSpec(image, file string, images object) object {
	data := object{"name": "data"}
	maps.Copy(data, images)
	return object{
		"automountServiceAccountToken": false, "enableServiceLinks": false, "terminationGracePeriodSeconds": 1,
		"securityContext": object{"runAsNonRoot": true, "runAsUser": user, "runAsGroup": user, "fsGroup": user, "fsGroupChangePolicy": "OnRootMismatch",
			"seccompProfile": object{"type": "RuntimeDefault"}},
		"volumes": []any{
			object{"name": "config", "configMap": object{"name": name}},
			data,
		},
		"containers": []any{object{
			"name": container, "image": image, "imagePullPolicy": "IfNotPresent", "command": []any{"registry", "serve", configDir + "/" + file},
			"securityContext": object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}}},
			"readinessProbe":  object{"httpGet": object{"path": "/", "port": model.KeptRegistryPort}, "periodSeconds": 1},
			"volumeMounts":    []any{object{"name": "config", "mountPath": configDir}, object{"name": "data", "mountPath": dataDir}},
			"resources":       object{"requests": object{"cpu": "10m", "memory": "32Mi"}},
		}},
	}
}
