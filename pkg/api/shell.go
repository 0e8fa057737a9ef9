package api

// Shell is the body of GET /api/shell: the places in which a shell of a resource can run. The query parameters are resource, pod
// and container; the last two are optional. Without a resource, the project must have only one.
type Shell struct {
	Resource string `json:"resource"`
	// Containers are the running containers, the best choice first; absent for a resource that runs on the machine of the session.
	Containers []ShellContainer `json:"containers,omitempty"`
	// Cluster is set if the containers run in a Kubernetes cluster, and Engine, its address, if a container engine runs them.
	Cluster *ShellCluster `json:"cluster,omitempty"`
	Engine  string        `json:"engine,omitempty"`
	// Folder is set for a resource that runs on the machine of the session.
	Folder *ShellFolder `json:"folder,omitempty"`
}

// ShellContainer is a running container. Kind is ordinary, sidecar or init. PodReady is true if its pod is ready, Current if the
// pod belongs to the newest deploy, and Live if live updates go to the container. A container of Compose has no namespace, and its
// own name as pod.
type ShellContainer struct {
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	PodReady  bool   `json:"podReady"`
	Current   bool   `json:"current"`
	Live      bool   `json:"live"`
}

// ShellCluster is a cluster as a context of a kubeconfig. Kubeconfig is the list of the files, in the form of KUBECONFIG, and
// Server is the address of the API server, without credentials.
type ShellCluster struct {
	Context    string `json:"context"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// ShellFolder is a folder on the machine of the session. Env are environment variables, "NAME=VALUE", that commands of the resource
// have in addition to the environment of the session. They may be secrets: only clients at the session's socket get them.
type ShellFolder struct {
	Dir string   `json:"dir"`
	Env []string `json:"env,omitempty"`
}
