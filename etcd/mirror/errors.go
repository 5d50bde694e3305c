package mirror

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reason says why a feed listed its range again. The set is closed, so that it can label a metric.
type Reason string

// Reasons of a list after the first.
const (
	ReasonCompacted Reason = "compacted"       // the revision to go on from is gone
	ReasonCluster   Reason = "cluster_changed" // the endpoints answer for another cluster
	ReasonRestored  Reason = "restored"        // the history of the cluster was replaced by an older one
	ReasonAudit     Reason = "audit"           // an audit found the copy to differ
)

// Reasons lists every Reason.
func Reasons() []Reason {
	return []Reason{ReasonCompacted, ReasonCluster, ReasonRestored, ReasonAudit}
}

// Why a list or a watch ended. Each is wrapped with what etcd said, if it said something.
var (
	errCompacted = errors.New("the revision to go on from was compacted")
	errCluster   = errors.New("another cluster answers")
	errRestored  = errors.New("the revision or the term of the cluster went back")
	errBehind    = errors.New("the watch is behind the quorum")
	errAudit     = errors.New("the audit found differences")
	errSilent    = errors.New("the watch is silent")
	errCancelled = errors.New("etcd cancelled the watch")
	errNoClient  = errors.New("connecting to etcd")
	errNoQuorum  = errors.New("etcd has no quorum, the state of one member was copied")
)

// relistReason tells whether err leaves no way but a new list, and what to call that.
func relistReason(err error) (Reason, bool) {
	switch {
	case errors.Is(err, errCompacted), errors.Is(err, rpctypes.ErrCompacted):
		return ReasonCompacted, true
	case errors.Is(err, errCluster):
		return ReasonCluster, true
	case errors.Is(err, errRestored):
		return ReasonRestored, true
	case errors.Is(err, errAudit):
		return ReasonAudit, true
	}
	return "", false
}

// loginRefused tells whether err calls for a new client with a login read anew.
func loginRefused(err error) bool {
	for _, refusal := range []error{
		rpctypes.ErrAuthFailed, rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserEmpty, rpctypes.ErrUserNotFound,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// timedOut tells whether err means that nothing came back.
func timedOut(err error) bool {
	return errors.Is(err, errSilent) || errors.Is(err, errBehind) || errors.Is(err, context.DeadlineExceeded)
}

// unavailable tells whether err may come from a cluster that has lost its quorum or cannot be reached.
func unavailable(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNoClient) {
		return true
	}
	var etcdErr rpctypes.EtcdError
	if errors.As(err, &etcdErr) {
		return etcdErr.Code() == codes.Unavailable || etcdErr.Code() == codes.DeadlineExceeded
	}
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}

// cancelError is the error of a watch that etcd cancelled for the reason it gave, which is a gRPC status in words.
func cancelError(reason string) error {
	for _, known := range []error{
		rpctypes.ErrGRPCInvalidAuthToken, rpctypes.ErrGRPCAuthOldRevision, rpctypes.ErrGRPCUserEmpty,
		rpctypes.ErrGRPCPermissionDenied,
	} {
		if reason == known.Error() || reason == rpctypes.ErrorDesc(known) {
			return fmt.Errorf("%w: %w", errCancelled, rpctypes.Error(known))
		}
	}
	if reason == "" {
		return errCancelled
	}
	return fmt.Errorf("%w: %s", errCancelled, reason)
}

// kindAway is the kind of every error that only says that etcd cannot be reached at present.
const kindAway = "away"

// kindPermission is the kind of those that are about one range, and not about the whole cluster or the login.
const kindPermission = "permission"

// kind names the trouble that err means, coarsely enough to tell one line of the log from the next.
func kind(err error) string {
	if err == nil {
		return ""
	}
	if reason, ok := relistReason(err); ok {
		return string(reason)
	}
	switch {
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return kindPermission
	case loginRefused(err):
		return "login"
	case errors.Is(err, errNoQuorum):
		return "quorum"
	}
	return kindAway
}
