package k8sobject

import "encoding/json"

// podTemplate has the parts of a pod's labels and specification that assembly needs.
type podTemplate struct {
	Metadata struct {
		Labels map[string]any `json:"labels"`
	} `json:"metadata"`
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	InitContainers []container `json:"initContainers"`
	Containers     []container `json:"containers"`
	Volumes        []struct {
		Image *struct {
			Reference string `json:"reference"`
		} `json:"image"`
	} `json:"volumes"`
}

type container struct {
	Image string `json:"image"`
	Env   []struct {
		Value string `json:"value"`
	} `json:"env"`
}

// readPods finds the pods that an object of a known kind makes. A malformed specification is left for the API server to
// refuse.
func (o *Object) readPods(head typeMeta) {
	var t podTemplate
	switch o.Group() + "/" + o.Kind {
	case "/Pod":
		t.Metadata.Labels = head.Metadata.Labels
		o.HasPods = json.Unmarshal(head.Spec, &t.Spec) == nil
	case "/PodTemplate":
		o.HasPods = json.Unmarshal(head.Template, &t) == nil
	case "/ReplicationController", "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet",
		"extensions/Deployment", "extensions/DaemonSet", "extensions/ReplicaSet", "batch/Job":
		var spec struct {
			Template *podTemplate `json:"template"`
		}
		if json.Unmarshal(head.Spec, &spec) == nil && spec.Template != nil {
			t, o.HasPods = *spec.Template, true
		}
	case "batch/CronJob":
		var spec struct {
			JobTemplate struct {
				Spec struct {
					Template *podTemplate `json:"template"`
				} `json:"spec"`
			} `json:"jobTemplate"`
		}
		if json.Unmarshal(head.Spec, &spec) == nil && spec.JobTemplate.Spec.Template != nil {
			t, o.HasPods = *spec.JobTemplate.Spec.Template, true
		}
	}
	if o.HasPods {
		o.podLabels = stringMap(t.Metadata.Labels)
		o.readImages(t.Spec)
	}
}

func (o *Object) readImages(spec podSpec) {
	for _, list := range [][]container{spec.InitContainers, spec.Containers} {
		for _, c := range list {
			if c.Image != "" {
				o.Images = append(o.Images, c.Image)
			}
			for _, e := range c.Env {
				if e.Value != "" {
					o.EnvValues = append(o.EnvValues, e.Value)
				}
			}
		}
	}
	for _, v := range spec.Volumes {
		if v.Image != nil && v.Image.Reference != "" {
			o.Images = append(o.Images, v.Image.Reference)
		}
	}
}

// selects reports whether the object's selector targets the pods of another. A Service without a namespace may end up
// in any namespace; one without a selector targets nothing.
func (o *Object) selects(pods *Object) bool {
	if len(o.selector) == 0 || !pods.HasPods {
		return false
	}
	if o.Namespace != "" && o.Namespace != pods.Namespaced() {
		return false
	}
	for k, v := range o.selector {
		if got, ok := pods.podLabels[k]; !ok || got != v {
			return false
		}
	}
	return true
}
