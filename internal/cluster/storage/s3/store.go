package s3

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/request"
)

// errNoObject says that there is no object of a key.
var errNoObject = errors.New("there is no such object")

// store sends the requests to an object store.
type store struct {
	place
	client      *request.Client
	credentials *chain
	now         func() time.Time
	skew        atomic.Int64 // how far the store's clock is ahead, as a duration, once it has complained
}

func newStore(rawURL string) (*store, error) {
	settings := readSettings()
	p, err := parsePlace(rawURL, settings)
	if err != nil {
		return nil, err
	}
	client := request.New()
	return &store{place: p, client: client, credentials: newChain(settings, client, p.region), now: time.Now}, nil
}

func (s *store) get(ctx context.Context, key string) ([]byte, error) {
	answer, err := s.send(ctx, http.MethodGet, key, nil, nil, nil)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound && errorOf(answer.Body).Code != "NoSuchBucket":
		return nil, errNoObject
	case answer.Status != http.StatusOK:
		return nil, s.refused(http.MethodGet, key, answer)
	case len(answer.Body) == 0:
		return nil, errNoObject // it was replaced by hand
	}
	return answer.Body[1:], nil
}

func (s *store) head(ctx context.Context, key string) error {
	answer, err := s.send(ctx, http.MethodHead, key, nil, nil, nil)
	switch {
	case err != nil:
		return err
	case answer.Status == http.StatusNotFound:
		return errNoObject
	case answer.Status != http.StatusOK:
		return s.refused(http.MethodHead, key, answer)
	}
	return nil
}

// create creates an object that must not exist. The answer has status 200, or 409 or 412 if the object exists.
func (s *store) create(ctx context.Context, key string, body []byte) (request.Answer, error) {
	header := http.Header{"If-None-Match": {"*"}, "Content-Type": {"application/octet-stream"}}
	answer, err := s.send(ctx, http.MethodPut, key, nil, header, body)
	if err != nil {
		return answer, err
	}
	switch answer.Status {
	case http.StatusOK, http.StatusConflict, http.StatusPreconditionFailed:
		return answer, nil
	case http.StatusNotImplemented:
		return answer, storage.Unfit(&Storage{s}, "it does not support If-None-Match")
	}
	return answer, s.refused(http.MethodPut, key, answer)
}

func (s *store) remove(ctx context.Context, key string) error {
	answer, err := s.send(ctx, http.MethodDelete, key, nil, nil, nil)
	if err != nil {
		return err
	}
	switch answer.Status {
	case http.StatusOK, http.StatusNoContent, http.StatusNotFound:
		return nil
	}
	return s.refused(http.MethodDelete, key, answer)
}

// page is one part of a listing: the token of the next part, and the store's time.
type page struct {
	next string
	date time.Time
}

// list lists the objects whose keys begin with a prefix, at most limit of them if it is set. Foreign objects are left out.
func (s *store) list(ctx context.Context, prefix, token string, limit int) ([]object, page, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {s.prefix + prefix}}
	if token != "" {
		query.Set("continuation-token", token)
	}
	if limit > 0 {
		query.Set("max-keys", strconv.Itoa(limit))
	}
	answer, err := s.send(ctx, http.MethodGet, "", query, nil, nil)
	if err != nil {
		return nil, page{}, err
	}
	if answer.Status != http.StatusOK {
		return nil, page{}, s.refused(http.MethodGet, "", answer)
	}
	var result struct {
		Contents []struct {
			Key          string
			LastModified time.Time
			Size         int64
		}
		NextContinuationToken string
	}
	if err := xml.Unmarshal(answer.Body, &result); err != nil {
		return nil, page{}, fmt.Errorf("read the listing of %s: %w", s, err)
	}
	var objects []object
	for _, c := range result.Contents {
		if name, number, ok := parseKey(strings.TrimPrefix(c.Key, s.prefix)); ok {
			objects = append(objects, object{name, number, c.Size, c.LastModified})
		}
	}
	date, _ := http.ParseTime(answer.Header.Get("Date")) // without it, nothing is old
	return objects, page{result.NextContinuationToken, date}, nil
}

// send sends a signed request about an object, or about the bucket if the key is empty. If the clocks differ too much for the store, it
// goes by the store's clock.
func (s *store) send(ctx context.Context, method, key string, query url.Values, header http.Header, body []byte) (request.Answer, error) {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	r := request.Request{Method: method, URL: s.url(key, query), Header: header, Body: body, Prepare: func(req *http.Request) error {
		return s.sign(req, digest)
	}}
	answer, err := s.client.Do(ctx, r)
	if err != nil || answer.Status != http.StatusForbidden {
		return answer, err
	}
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil || !s.skewed(date, answer) {
		return answer, nil //nolint:nilerr // the answer says enough
	}
	s.skew.Store(int64(date.Sub(s.now())))
	return s.client.Do(ctx, r)
}

// skewed reports whether a store refuses a request because of its time. An answer to HEAD has no reason in it.
func (s *store) skewed(date time.Time, answer request.Answer) bool {
	off := date.Sub(s.now().Add(time.Duration(s.skew.Load()))).Abs()
	return errorOf(answer.Body).Code == "RequestTimeTooSkewed" || off > time.Minute && len(answer.Body) == 0
}

func (s *store) sign(req *http.Request, digest string) error {
	c, err := s.credentials.get(req.Context())
	if err != nil {
		return err
	}
	req.Header.Set("X-Amz-Content-Sha256", digest)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	at := s.now().Add(time.Duration(s.skew.Load()))
	return signer.SignHTTP(req.Context(), aws.Credentials{AccessKeyID: c.key, SecretAccessKey: c.secret, SessionToken: c.token}, req, digest, "s3", s.region, at)
}

// failure is the body of an answer that is no success.
type failure struct{ Code, Message, Region string }

func errorOf(body []byte) failure {
	var f failure
	_ = xml.Unmarshal(body, &f) // an answer without a reason has its status
	return f
}

// refused returns the error of an answer.
func (s *store) refused(method, key string, answer request.Answer) error {
	f := errorOf(answer.Body)
	said := strings.TrimSpace(cmp.Or(f.Code, http.StatusText(answer.Status)) + " " + f.Message)
	err := fmt.Errorf("%s %s/%s: the object store answers %d %s", method, s, key, answer.Status, said)
	if region := cmp.Or(f.Region, answer.Header.Get("X-Amz-Bucket-Region")); region != "" && region != s.region {
		return problem.Wrap(err, "the bucket of "+s.String()+" is in the region "+region, "add the parameter region="+region+" to its URL")
	}
	switch {
	case f.Code == "NoSuchBucket":
		return problem.Wrap(err, "there is no bucket "+s.bucket, "create it, or correct the URL of the storage")
	case answer.Status == http.StatusForbidden, answer.Status == http.StatusUnauthorized:
		return problem.Wrap(err, "the storage "+s.String()+" refuses access",
			"check the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID, ~/.aws/credentials); they must allow s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject on its objects")
	}
	return err
}
