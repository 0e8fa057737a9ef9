package s3

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage/request"
)

// metadata is where a machine of EC2 finds its role's credentials, and a container of ECS with a relative address its own.
const (
	metadata   = "http://169.254.169.254/latest"
	containers = "http://169.254.170.2"
)

// chain finds credentials where programs for AWS look for them, in their order, and renews them before they expire.
type chain struct {
	settings
	client   *request.Client
	sts      string
	metadata string

	mu      sync.Mutex
	known   login     // guarded by mu
	expires time.Time // of known, zero for never; guarded by mu
}

func newChain(set settings, client *request.Client, region string) *chain {
	c := &chain{settings: set, client: client, sts: "https://sts." + region + ".amazonaws.com", metadata: metadata}
	if address := os.Getenv("AWS_ENDPOINT_URL_STS"); address != "" {
		c.sts = address
	}
	if address := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"); address != "" {
		c.metadata = strings.TrimSuffix(address, "/") + "/latest"
	}
	return c
}

// get returns credentials that are valid for some minutes.
func (c *chain) get(ctx context.Context) (login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known.complete() && (c.expires.IsZero() || time.Until(c.expires) > time.Minute) {
		return c.known, nil
	}
	known, expires, err := c.find(ctx)
	if err != nil {
		return login{}, problem.Wrap(err, "there are no credentials for the object store",
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile in ~/.aws/credentials")
	}
	c.known, c.expires = known, expires
	return known, nil
}

func (c *chain) find(ctx context.Context) (login, time.Time, error) {
	switch {
	case c.login.complete():
		return c.login, time.Time{}, nil
	case c.role != "" && c.tokenFile != "":
		return c.fromRole(ctx)
	case c.process != "":
		return c.fromProcess(ctx)
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return c.fromContainer(ctx, os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "":
		return c.fromContainer(ctx, containers+os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
	case c.profile != "":
		return login{}, time.Time{}, errors.New("the profile " + c.profile + " has none that hone can use")
	case strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true"):
		return login{}, time.Time{}, errors.New("neither the environment nor ~/.aws has any")
	}
	return c.fromMachine(ctx)
}

// fromRole exchanges the token of a workload for the credentials of a role.
func (c *chain) fromRole(ctx context.Context) (login, time.Time, error) {
	token, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return login{}, time.Time{}, err
	}
	form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {c.role},
		"RoleSessionName": {c.session}, "WebIdentityToken": {strings.TrimSpace(string(token))}}
	raw, err := c.ask(ctx, http.MethodPost, c.sts+"/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	if err != nil {
		return login{}, time.Time{}, err
	}
	var result struct {
		Credentials struct {
			AccessKeyId, SecretAccessKey, SessionToken string
			Expiration                                 time.Time
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if err := xml.Unmarshal(raw, &result); err != nil {
		return login{}, time.Time{}, fmt.Errorf("read the answer of %s: %w", c.sts, err)
	}
	r := result.Credentials
	return complete(login{r.AccessKeyId, r.SecretAccessKey, r.SessionToken}, r.Expiration, c.sts)
}

// fromProcess runs the command of the profile, as a shell would.
func (c *chain) fromProcess(ctx context.Context) (login, time.Time, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.process)
	if os.PathSeparator == '\\' {
		cmd = exec.CommandContext(ctx, "cmd.exe", "/C", c.process)
	}
	raw, err := cmd.Output()
	if err != nil {
		return login{}, time.Time{}, fmt.Errorf("run credential_process: %w", err)
	}
	return fromJSON(raw, "credential_process")
}

// fromContainer asks the agent beside a container.
func (c *chain) fromContainer(ctx context.Context, address string) (login, time.Time, error) {
	token := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if path := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return login{}, time.Time{}, err
		}
		token = strings.TrimSpace(string(raw))
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", token)
	}
	raw, err := c.ask(ctx, http.MethodGet, address, header, nil)
	if err != nil {
		return login{}, time.Time{}, err
	}
	return fromJSON(raw, address)
}

// fromMachine asks the metadata service of a machine, which answers at once or is not there.
func (c *chain) fromMachine(ctx context.Context) (login, time.Time, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errors.New("neither the environment nor ~/.aws has any, and this is no machine with a role"))
	defer cancel()
	token, err := c.ask(ctx, http.MethodPut, c.metadata+"/api/token", http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"300"}}, nil)
	if err != nil {
		return login{}, time.Time{}, err
	}
	header := http.Header{"X-Aws-Ec2-Metadata-Token": {string(token)}}
	roles := c.metadata + "/meta-data/iam/security-credentials/"
	role, err := c.ask(ctx, http.MethodGet, roles, header, nil)
	if err != nil {
		return login{}, time.Time{}, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	raw, err := c.ask(ctx, http.MethodGet, roles+first, header, nil)
	if err != nil {
		return login{}, time.Time{}, err
	}
	return fromJSON(raw, roles)
}

func (c *chain) ask(ctx context.Context, method, address string, header http.Header, body []byte) ([]byte, error) {
	answer, err := c.client.Do(ctx, request.Request{Method: method, URL: address, Header: header, Body: body})
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s answers %d %s", address, answer.Status, errorOf(answer.Body).Code)
	}
	return answer.Body, err
}

// fromJSON reads the form that agents, machines and commands share.
func fromJSON(raw []byte, from string) (login, time.Time, error) {
	var r struct {
		AccessKeyId, SecretAccessKey, SessionToken, Token string
		Expiration                                        time.Time
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return login{}, time.Time{}, fmt.Errorf("read the answer of %s: it is no JSON of credentials", from)
	}
	return complete(login{r.AccessKeyId, r.SecretAccessKey, r.SessionToken + r.Token}, r.Expiration, from)
}

func complete(l login, expires time.Time, from string) (login, time.Time, error) {
	if !l.complete() {
		return login{}, time.Time{}, errors.New(from + " returns no credentials")
	}
	return l, expires, nil
}
