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
	// nameLabel has the name of the replica, and builderLabel the one of the builder.
	nameLabel, builderLabel = "app.kubernetes.io/name", "hone.dev/builder"
	// partLabel is the label that all builders have, and partOf its value.
	partLabel, partOf = "app.kubernetes.io/part-of", "hone-builders"
)

// object is a Kubernetes object, or a part of one.
type object map[string]any

// labels returns the labels of a replica's objects: its name, the one of the builder, and one that all builders have.
func (r replica) labels() object {
	return object{nameLabel: r.name, builderLabel: r.builder, partLabel: partOf}
}

// selector is the same as a label selector.
func selector(name string) string { return nameLabel + "=" + name }

// manifest returns the replica as a resource: its Deployment, with a volume and a configuration where it has them.
func (p Plan) manifest(r replica, namespace string) (model.Manifest, error) {
	all := []object{p.deployment(r, namespace)}
	if p.Volume {
		all = append(all, r.claim(namespace))
	}
	if r.Config != "" {
		all = append(all, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": r.meta(namespace), "data": object{configFile: r.Config}})
	}
	target := &model.K8sTarget{PodReadiness: model.PodWait}
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			return model.Manifest{}, fmt.Errorf("builder: %w", err)
		}
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		target.Objects = append(target.Objects, model.K8sObject{APIVersion: version, Kind: kind, Namespace: namespace, Name: r.name, JSON: string(text)})
	}
	return model.Manifest{Name: model.ManifestName(r.name), K8s: target}, nil
}

func (r replica) meta(namespace string) object {
	return object{"name": r.name, "namespace": namespace, "labels": r.labels()}
}

func (p Plan) deployment(r replica, namespace string) object {
	m := r.meta(namespace)
	m["annotations"] = object{modeAnnotation: string(p.Mode)}
	return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": m, "spec": object{
		"replicas": 1,
		"strategy": object{"type": "Recreate"}, // two daemons cannot share a cache
		"selector": object{"matchLabels": object{nameLabel: r.name}},
		"template": object{"metadata": object{"labels": r.labels()}, "spec": p.podSpec(r)},
	}}
}

// podSpec is the same as "kubectl explain pod.spec" has it.
func (p Plan) podSpec(r replica) object {
	args := []any{"--addr", address, "--root", cacheDir}
	security, spec := object{}, object{"automountServiceAccountToken": false, "enableServiceLinks": false, "terminationGracePeriodSeconds": 10}
	// All pods say so, also a single one: projects that want different numbers of replicas share the first ones.
	spec["topologySpreadConstraints"] = []any{object{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
		"labelSelector": object{"matchLabels": object{builderLabel: r.builder}}}}
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
		cache = object{"name": "cache", "persistentVolumeClaim": object{"claimName": r.name}}
	}
	volumes := []any{object{"name": "socket", "emptyDir": object{}}, cache}
	if r.Config != "" {
		args = append(args, "--config", configDir+"/"+configFile)
		mounts = append(mounts, object{"name": "config", "mountPath": configDir})
		volumes = append(volumes, object{"name": "config", "configMap": object{"name": r.name}})
	}
	spec["volumes"] = volumes
	spec["containers"] = []any{object{
		"name": container, "image": p.Mode.image(r.BuilderPod), "imagePullPolicy": "IfNotPresent", "args": args, "securityContext": security, "volumeMounts": mounts,
		"resources": object{"requests": r.Requests, "limits": r.Limits},
		// A probe that succeeds once makes the pod ready. Afterwards it is rare: it starts a program of 50 MB.
		"startupProbe":  probe(1, 300),
		"livenessProbe": probe(30, 10), // builds may leave the daemon little time to answer
	}}
	if len(r.NodeSelector) > 0 {
		spec["nodeSelector"] = r.NodeSelector
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

func (r replica) claim(namespace string) object {
	size := r.Storage
	if size == "" {
		size = model.DefaultBuilderStorage
	}
	spec := object{"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": size}}}
	if r.StorageClass != "" {
		spec["storageClassName"] = r.StorageClass
	}
	return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": r.meta(namespace), "spec": spec}
}
