package api

import (
	"slices"
	"strings"
	"time"
)

// Permission is the right to make requests of one kind.
type Permission string

// The permissions that a token can have. Nobody but the owner may create tokens, let browsers in and attach a screen.
const (
	// PermissionStatus is part of every token.
	PermissionStatus   Permission = "status"
	PermissionLogs     Permission = "logs"
	PermissionSettle   Permission = "settle"
	PermissionTest     Permission = "test"
	PermissionPreview  Permission = "preview"
	PermissionSnapshot Permission = "snapshot"
	PermissionTrigger  Permission = "trigger"
	PermissionRestart  Permission = "restart"
	PermissionEnable   Permission = "enable"
	PermissionButton   Permission = "button"
	PermissionDeploy   Permission = "deploy"
	PermissionPause    Permission = "pause"
	PermissionForward  Permission = "forward"
	PermissionArgs     Permission = "args"
	PermissionWrite    Permission = "write"
	PermissionExec     Permission = "exec"
	PermissionStop     Permission = "stop"
	// PermissionOwner cannot be granted.
	PermissionOwner Permission = "owner"
)

// PermissionDoc describes a permission for people.
type PermissionDoc struct {
	Permission Permission
	Doc        string
}

// Permissions are all that a token can have, those that change nothing first.
var Permissions = []PermissionDoc{
	{PermissionStatus, "read resources, objects and events; every token may do this"},
	{PermissionLogs, "read logs"},
	{PermissionSettle, "wait until saved files are live"},
	{PermissionPreview, "see which steps updates would take, and the differences of revisions"},
	{PermissionSnapshot, "read the whole state with its logs"},
	{PermissionTest, "run tests"},
	{PermissionTrigger, "update resources and evaluate the Tiltfile"},
	{PermissionRestart, "restart programs and replace pods"},
	{PermissionEnable, "enable and disable resources, and choose their trigger modes"},
	{PermissionButton, "click buttons of the Tiltfile"},
	{PermissionDeploy, "confirm changes, take over objects, restore drift, and let objects be deleted"},
	{PermissionPause, "pause and resume the session"},
	{PermissionForward, "open and close port forwards"},
	{PermissionArgs, "change the arguments of the Tiltfile"},
	{PermissionWrite, "write objects of the session's API"},
	{PermissionExec, "run commands in containers and on this machine"},
	{PermissionStop, "stop the session"},
}

// Grantable reports whether a token can have a permission.
func Grantable(p Permission) bool {
	return slices.ContainsFunc(Permissions, func(d PermissionDoc) bool { return d.Permission == p })
}

// PermissionList joins permissions with commas.
func PermissionList(all []Permission) string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = string(p)
	}
	return strings.Join(out, ",")
}

// LongestToken is the longest life of a token: 30 days. A session that runs longer needs another one.
const LongestToken Milliseconds = 30 * 24 * 60 * 60 * 1000

// LeastKubeconfig is the shortest life of the token in a kubeconfig: 10 minutes, the least that Kubernetes grants.
const LeastKubeconfig = LongestToken / (30 * 24 * 6)

// TokenRequest creates a token with a part of the owner's rights.
type TokenRequest struct {
	// Name says in events, updates and logs who made a request: up to 63 letters, digits, dots, hyphens and underscores. No two tokens
	// of a session have the same name.
	Name string `json:"name"`
	// Allow are its permissions. It also has status.
	Allow []Permission `json:"allow"`
	// ForMs is its life, up to LongestToken. It ends with the session at the latest.
	ForMs Milliseconds `json:"forMs"`
}

// Token is a token with a part of the owner's rights.
type Token struct {
	Name      string       `json:"name"`
	Allow     []Permission `json:"allow"`
	CreatedAt time.Time    `json:"createdAt"`
	ExpiresAt time.Time    `json:"expiresAt"`
	// Token is the secret. Only the response to its creation has it.
	Token string `json:"token,omitempty"`
}

// TokenList are the tokens that are valid, the oldest first.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

// TokenRevocation ends a token.
type TokenRevocation struct {
	Name string `json:"name"`
}

// KubeconfigRequest requests a kubeconfig that reads the namespaces of the session.
type KubeconfigRequest struct {
	// ForMs is the life of its token, from LeastKubeconfig to LongestToken. The cluster may shorten it.
	ForMs Milliseconds `json:"forMs"`
}

// Kubeconfig is a kubeconfig that reads some namespaces, without their Secrets. Its account ends with the session.
type Kubeconfig struct {
	Kubeconfig string    `json:"kubeconfig"`
	Namespaces []string  `json:"namespaces"`
	ExpiresAt  time.Time `json:"expiresAt"`
}
