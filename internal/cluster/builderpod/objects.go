package builderpod

import (
	"encoding/json"
	"fmt"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// container is the name of the daemon's container.
	container = "buildkitd"
	// socketDir and cacheDir are the folders of the daemon's socket and of its cache, and configDir has its configuration.
	socketDir, cacheDir, configDir = "/run/hone-builder", "/cache", "/etc/hone-builder"
	// address is the daemon's socket. Build steps do not see it: they have file systems of their own.
	address = "unix://" + socketDir + "/buildkitd.sock"
	// configFile is the name of the daemon's configuration.
	configFile = "buildkitd.toml"
	// user is the user of BuildKit's rootless images.
	user = 1000
	// modeAnnotation has the mode in which a builder runs.
	modeAnnotation = "hone.dev/builder-mode"
	// nameLabel has the name of the builder.
	nameLabel = "app.kubernetes.io/name"
)

// object is a Kubernetes object, or a part of one.
type object map[string]any

// labelsOf returns the labels of a builder's objects: its name, and one that all builders have.
func labelsOf(name string) object {
	return object{nameLabel: name, "app.kubernetes.io/part-of": "hone-builders"}
}

// selector is the same as a label selector.
func selector(name string) string { return nameLabel + "=" + name }

// manifest returns the builder as a resource: its Deployment, with a volume and a configuration where it has them.
func (p Plan) manifest(pod model.BuilderPod, namespace string) (model.Manifest, error) {
	name := nameOf(pod)
	all := []object{p.deployment(pod, namespace)}
	if p.Volume {
		all = append(all, claim(pod, namespace))
	}
	if pod.Config != "" {
		all = append(all, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, namespace), "data": object{configFile: pod.Config}})
	}
	target := &model.K8sTarget{PodReadiness: model.PodWait}
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			return model.Manifest{}, fmt.Errorf("builder: %w", err)
		}
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		target.Objects = append(target.Objects, model.K8sObject{APIVersion: version, Kind: kind, Namespace: namespace, Name: name, JSON: string(text)})
	}
	return model.Manifest{Name: model.ManifestName(name), K8s: target}, nil
}

func meta(name, namespace string) object {
	return object{"name": name, "namespace": namespace, "labels": labelsOf(name)}
}

func (p Plan) deployment(pod model.BuilderPod, namespace string) object {
	name := nameOf(pod)
	m := meta(name, namespace)
	m["annotations"] = object{modeAnnotation: string(p.Mode)}
	return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": m, "spec": object{
		"replicas": 1,
		"strategy": object{"type": "Recreate"}, // two daemons cannot share a cache
		"selector": object{"matchLabels": object{nameLabel: name}},
		"template": object{"metadata": object{"labels": labelsOf(name)}, "spec": p.podSpec(pod)},
	}}
}

// podSpec is the same as "kubectl explain pod.spec" has it.
func (p Plan) podSpec(pod model.BuilderPod) object {
	args := []any{"--addr", address, "--root", cacheDir}
	security, spec := object{}, object{"automountServiceAccountToken": false, "enableServiceLinks": false, "terminationGracePeriodSeconds": 10}
	switch p.Mode {
	case UserNamespace:
		spec["hostUsers"] = false
		security["privileged"] = true // within the user namespace
	case Rootless:
		// Without a process sandbox, a build step can see the daemon's processes: a sandbox would need a mount of /proc that the pod may not make.
		args = append(args, "--oci-worker-no-process-sandbox")
		unconfined := object{"type": "Unconfined"}
		security = object{"runAsUser": user, "runAsGroup": user, "seccompProfile": unconfined, "appArmorProfile": unconfined}
		spec["securityContext"] = object{"fsGroup": user, "fsGroupChangePolicy": "OnRootMismatch"}
	case Privileged:
		security["privileged"] = true
	}
	mounts := []any{object{"name": "socket", "mountPath": socketDir}, object{"name": "cache", "mountPath": cacheDir}}
	cache := object{"name": "cache", "emptyDir": object{}}
	if p.Volume {
		cache = object{"name": "cache", "persistentVolumeClaim": object{"claimName": nameOf(pod)}}
	}
	volumes := []any{object{"name": "socket", "emptyDir": object{}}, cache}
	if pod.Config != "" {
		args = append(args, "--config", configDir+"/"+configFile)
		mounts = append(mounts, object{"name": "config", "mountPath": configDir})
		volumes = append(volumes, object{"name": "config", "configMap": object{"name": nameOf(pod)}})
	}
	spec["volumes"] = volumes
	spec["containers"] = []any{object{
		"name": container, "image": p.Mode.image(pod), "imagePullPolicy": "IfNotPresent", "args": args, "securityContext": security, "volumeMounts": mounts,
		"resources": object{"requests": pod.Requests, "limits": pod.Limits},
		// A probe that succeeds once makes the pod ready. Afterwards it is rare: it starts a program of 50 MB.
		"startupProbe":  probe(1, 300),
		"livenessProbe": probe(30, 10), // builds may leave the daemon little time to answer
	}}
	if len(pod.NodeSelector) > 0 {
		spec["nodeSelector"] = pod.NodeSelector
	}
	return spec
}

// probe asks whether the daemon answers. Period is in seconds, and failures is the number that ends the container.
func probe(period, failures int) object {
	return object{"exec": object{"command": buildctl("debug", "workers")}, "periodSeconds": period, "timeoutSeconds": 10, "failureThreshold": failures}
}

// buildctl returns the command that speaks to the daemon in its container.
func buildctl(args ...string) []string {
	return append([]string{"buildctl", "--addr", address}, args...)
}

func claim(pod model.BuilderPod, namespace string) object {
	size := pod.Storage
	if size == "" {
		size = model.DefaultBuilderStorage
	}
	spec := object{"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": size}}}
	if pod.StorageClass != "" {
		spec["storageClassName"] = pod.StorageClass
	}
	return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(nameOf(pod), namespace), "spec": spec}
}
