package podregistry

import (
	"encoding/json"
	"fmt"

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
	// user is the user of both pods: the program needs no rights.
	user = 1000
	// nameLabel has the name of the objects, and templateLabel is set on pods by a Deployment.
	nameLabel = "app.kubernetes.io/name"
)

// object is a Kubernetes object, or a part of one.
type object map[string]any

// registryIn returns the registry as a resource, and relaysIn the relays, which want it to answer when they start.
func registryIn(namespace, image string) (model.Manifest, error) {
	return manifest(name, namespace, config(namespace), service(namespace), registry(image, namespace))
}

func relaysIn(namespace, image string) (model.Manifest, error) {
	return manifest(relayName, namespace, relays(image, namespace))
}

// manifest returns a resource of objects.
func manifest(called, namespace string, objects ...object) (model.Manifest, error) {
	target := &model.K8sTarget{PodReadiness: model.PodWait}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return model.Manifest{}, fmt.Errorf("registry: %w", err)
		}
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		target.Objects = append(target.Objects, model.K8sObject{APIVersion: version, Kind: kind, Namespace: namespace, Name: called, JSON: string(text)})
	}
	return model.Manifest{Name: model.ManifestName(called), K8s: target}, nil
}

func meta(name, namespace string) object {
	return object{"name": name, "namespace": namespace, "labels": labels(name)}
}

// labels returns the labels of an object: its name, and one that the objects of all builders have.
func labels(name string) object {
	return object{nameLabel: name, "app.kubernetes.io/part-of": "hone-builders"}
}

// config has the configurations of the program, in its own format (distribution, "Configuring a registry").
func config(namespace string) object {
	listens := "http: {addr: \":%d\"}\nlog: {level: warn, accesslog: {disabled: true}}\n"
	stores := "version: 0.1\nstorage: {filesystem: {rootdirectory: " + dataDir + "}, delete: {enabled: true}}\n" + fmt.Sprintf(listens, model.KeptRegistryPort)
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, namespace), "data": object{
		registryFile: stores,
		relayFile:    stores + "proxy: {remoteurl: \"http://" + model.KeptRegistry(namespace, "").Host + "\"}\n",
	}}
}

func service(namespace string) object {
	return object{"apiVersion": "v1", "kind": "Service", "metadata": meta(name, namespace), "spec": object{
		"selector": object{nameLabel: name}, "ports": []any{object{"name": "registry", "port": model.KeptRegistryPort, "targetPort": model.KeptRegistryPort}},
	}}
}

func registry(image, namespace string) object {
	return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name, namespace), "spec": object{
		"replicas": 1,
		"strategy": object{"type": "Recreate"},
		"selector": object{"matchLabels": object{nameLabel: name}},
		"template": object{"metadata": object{"labels": labels(name)}, "spec": podSpec(image, registryFile)},
	}}
}

func relays(image, namespace string) object {
	spec := podSpec(image, relayFile)
	spec["tolerations"] = []any{object{"operator": "Exists"}} // each node pulls
	containers, _ := spec["containers"].([]any)
	relay, _ := containers[0].(object)
	relay["ports"] = []any{object{"containerPort": model.KeptRegistryPort, "hostPort": model.KeptRegistryNodePort(namespace), "hostIP": "127.0.0.1"}}
	return object{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta(relayName, namespace), "spec": object{
		"selector": object{"matchLabels": object{nameLabel: relayName}},
		"template": object{"metadata": object{"labels": labels(relayName)}, "spec": spec},
	}}
}

// podSpec is the same as "kubectl explain pod.spec" has it.
func podSpec(image, file string) object {
	return object{
		"automountServiceAccountToken": false, "enableServiceLinks": false, "terminationGracePeriodSeconds": 1,
		"securityContext": object{"runAsNonRoot": true, "runAsUser": user, "runAsGroup": user, "fsGroup": user, "seccompProfile": object{"type": "RuntimeDefault"}},
		"volumes": []any{
			object{"name": "config", "configMap": object{"name": name}},
			object{"name": "data", "emptyDir": object{}},
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
