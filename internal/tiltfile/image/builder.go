package image

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// builder declares the builder that takes the place of the container engine.
func (d *Declarations) builder(c *eval.Call) (starlark.Value, error) {
	var b model.Builder
	var config, cluster string
	var requests, limits, nodeSelector value.TextMap
	var replicas value.Int
	var platforms value.Texts
	if err := c.Unpack("at", &b.At, "cluster??", &cluster, "namespace??", &b.Pod.Namespace, "image??", &b.Pod.Image, "requests??", &requests, "limits??", &limits,
		"storage??", &b.Pod.Storage, "storage_class??", &b.Pod.StorageClass, "node_selector??", &nodeSelector, "config??", &config,
		"privileged??", &b.Pod.Privileged, "replicas??", &replicas, "platforms??", &platforms, "registry??", &b.Pod.Registry, "registry_image??", &b.Pod.RegistryPod.Image,
		"registry_storage??", &b.Pod.RegistryPod.Storage); err != nil {
		return nil, err
	}
	if b.At == "" {
		return nil, fmt.Errorf("at is empty: name a builder, give an address, or say %q", model.BuilderInCluster)
	}
	if d.Builder != nil {
		return nil, fmt.Errorf("the builder is already %s", d.Builder.At)
	}
	if replicas.IsSet && (replicas.Value < 1 || replicas.Value > model.MostBuilderReplicas) {
		return nil, fmt.Errorf("replicas is %d: it is a number from 1 to %d", replicas.Value, model.MostBuilderReplicas)
	}
	if replicas.Value > 1 {
		b.Pod.Replicas = replicas.Value
	}
	if err := checkPlatforms(platforms.Values); err != nil {
		return nil, err
	}
	b.Pod.Platforms = platforms.Values
	b.Pod.Requests, b.Pod.Limits, b.Pod.NodeSelector = requests.Values, limits.Values, nodeSelector.Values
	if described := config+cluster != "" || !reflect.ValueOf(b.Pod).IsZero(); described && b.At != model.BuilderInCluster {
		return nil, fmt.Errorf("only builder(%q) has a pod to describe: %s has none", model.BuilderInCluster, b.At)
	}
	if err := checkPod(b.Pod); err != nil {
		return nil, err
	}
	if b.Pod.RegistryPod.Storage != "" {
		b.Pod.RegistryPod.StorageClass = b.Pod.StorageClass
	}
	if b.Pod.Registry && d.Registry != nil {
		return nil, errTwoRegistries
	}
	if b.Pod.Registry && cluster != "" {
		return nil, errRegistryElsewhere
	}
	if config != "" {
		text, err := c.ReadFile(c.Abs(config))
		if err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
		b.Pod.Config = string(text)
	}
	d.Builder, d.BuilderCluster, d.BuilderSite = &b, cluster, c.Site()
	return nil, nil
}

// platformForm is the form of a platform that has pods of its own.
var platformForm = regexp.MustCompile(`^linux/[a-z0-9_]+$`)

// checkPlatforms checks the platforms of a builder.
func checkPlatforms(all []string) error {
	for i, p := range all {
		switch {
		case !platformForm.MatchString(p):
			return fmt.Errorf("platforms: %q is not a platform of nodes, such as \"linux/arm64\"", p)
		case slices.Contains(all[:i], p):
			return fmt.Errorf("platforms: %s is there twice", p)
		}
	}
	return nil
}

// errTwoRegistries refuses a registry that hone keeps beside one that the Tiltfile names.
var errTwoRegistries = errors.New("default_registry and builder(\"kubernetes\", registry=True) name two registries: images go to one of them")

// errRegistryElsewhere refuses a registry that hone keeps in another cluster than the session's own.
var errRegistryElsewhere = problem.New("registry=True keeps a registry for the session's own cluster, and cluster= names another one",
	"name a registry that all clusters reach: default_registry(\"registry.example.com/you\")").See("builders")

// checkPod checks the quantities of a pod, and that the settings of a registry have one.
func checkPod(p model.BuilderPod) error {
	if p.RegistryPod != (model.RegistryPod{}) && !p.Registry {
		return errors.New("registry_image and registry_storage are about the registry that registry=True keeps")
	}
	for argument, all := range map[string]map[string]string{"requests": p.Requests, "limits": p.Limits, "storage": {"": p.Storage}, "registry_storage": {"": p.RegistryPod.Storage}} {
		for name, text := range all {
			if text == "" && name == "" {
				continue
			}
			if _, err := resource.ParseQuantity(text); err != nil {
				return fmt.Errorf("%s %q is not a quantity, such as \"500m\" or \"20Gi\"", strings.TrimSuffix(argument+": "+name, ": "), text)
			}
		}
	}
	return nil
}
