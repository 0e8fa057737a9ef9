package s3

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// place is where the objects are.
type place struct {
	bucket string
	prefix string // begins the keys; empty, or with a slash at the end
	region string
	base   url.URL // of the bucket, without a slash at the end
	shown  string
}

const mendURL = "use s3://BUCKET/PREFIX, with ?endpoint=https://HOST and &region=REGION where necessary"

func parsePlace(rawURL string, set settings) (place, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return place{}, problem.Wrap(err, "the URL of the storage is invalid", mendURL)
	}
	query := u.Query()
	if u.User != nil || query.Get("access_key") != "" || query.Get("secret_key") != "" {
		return place{}, problem.New("the URL of the storage s3://"+u.Host+" has credentials",
			"put them into ~/.aws/credentials or the environment: a URL appears in logs and in the Tiltfile")
	}
	for parameter := range query {
		if parameter != "endpoint" && parameter != "region" && parameter != "path-style" {
			return place{}, problem.New("the URL of the storage has an unknown parameter: "+parameter, mendURL)
		}
	}
	if u.Scheme != "s3" || u.Host == "" || u.Fragment != "" {
		return place{}, problem.New("the URL of the storage is invalid: "+u.Redacted(), mendURL)
	}
	p := place{bucket: u.Host, prefix: strings.Trim(u.Path, "/"), region: cmp.Or(query.Get("region"), set.region, "us-east-1"), shown: u.String()}
	if p.prefix != "" {
		p.prefix += "/"
	}
	endpoint := cmp.Or(query.Get("endpoint"), set.endpoint)
	// A bucket with a dot fits no certificate as a part of the host.
	pathStyle := endpoint != "" || strings.Contains(p.bucket, ".")
	if text := query.Get("path-style"); text != "" {
		if pathStyle, err = strconv.ParseBool(text); err != nil {
			return place{}, problem.New("the URL of the storage has path-style="+text, "use path-style=true or path-style=false")
		}
	}
	err = p.at(cmp.Or(endpoint, "https://s3."+p.region+".amazonaws.com"), pathStyle)
	return p, err
}

// at sets the address of the bucket.
func (p *place) at(endpoint string, pathStyle bool) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil {
		return problem.New("the endpoint of the storage is invalid", "use endpoint=https://HOST, without credentials")
	}
	p.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}
	if pathStyle {
		p.base.Path += "/" + p.bucket
	} else {
		p.base.Host = p.bucket + "." + p.base.Host
	}
	return nil
}

// String returns the URL of the storage.
func (p place) String() string { return p.shown }

// url returns the address of an object, or of the bucket if the key is empty.
func (p place) url(key string, query url.Values) string {
	u := p.base
	if key != "" {
		key = p.prefix + key
	}
	u.Path += "/" + key
	u.RawPath = escaped(u.Path)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String()
}

// escaped escapes a path as signatures demand: all bytes except the unreserved ones.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
