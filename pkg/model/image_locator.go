package model

// ImageLocator says where an object of a kind without a known pod template names an image (k8s_kind and
// k8s_image_json_path). The Tiltfile's selectors are already resolved: a locator belongs to one object.
type ImageLocator struct {
	Object ObjectID
	// Path is a JSONPath into the object, e.g. "{.spec.image}" or "{.spec.nodes[*].image}".
	Path string
	// RepoField and TagField, when set, name the fields of the map at Path that hold the two halves of the reference.
	RepoField string
	TagField  string
}
