package etcdtest

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// RootPassword is that of the user root after EnableAuth.
const RootPassword = "root"

// EnableAuth creates the user root and turns authentication on. Put and its like log in as root from then on.
func (e *Etcd) EnableAuth() {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	c := e.shared()
	_, err := c.UserAdd(ctx, "root", RootPassword)
	if err == nil {
		_, err = c.UserGrantRole(ctx, "root", "root")
	}
	if err == nil {
		_, err = c.AuthEnable(ctx)
	}
	if err != nil {
		e.t.Fatalf("enabling authentication: %v", err)
	}
	e.LoginAsRoot()
}

// LoginAsRoot replaces the clients that Client gave out by one that is logged in as root. It is needed again after each
// Restart.
func (e *Etcd) LoginAsRoot() {
	e.t.Helper()
	e.mu.Lock()
	old := e.clients
	e.clients = nil
	e.mu.Unlock()
	for _, c := range old {
		_ = c.Close() // reports the cancellation of its own context
	}
	e.login("root", RootPassword)
}

// AddUser creates a user with a role of the same name that may read each prefix.
func (e *Etcd) AddUser(name, password string, prefixes ...string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	c := e.shared()
	_, err := c.RoleAdd(ctx, name)
	if err == nil {
		_, err = c.UserAdd(ctx, name, password)
	}
	if err == nil {
		_, err = c.UserGrantRole(ctx, name, name)
	}
	if err != nil {
		e.t.Fatalf("adding user %s: %v", name, err)
	}
	for _, p := range prefixes {
		e.Grant(name, p)
	}
}

// SetPassword changes the password of a user.
func (e *Etcd) SetPassword(name, password string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	if _, err := e.shared().UserChangePassword(ctx, name, password); err != nil {
		e.t.Fatalf("changing the password of %s: %v", name, err)
	}
}

// Grant lets the role of a user read a prefix.
func (e *Etcd) Grant(name, prefix string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	_, err := e.shared().RoleGrantPermission(ctx, name, prefix, clientv3.GetPrefixRangeEnd(prefix),
		clientv3.PermissionType(clientv3.PermRead))
	if err != nil {
		e.t.Fatalf("granting %s to %s: %v", prefix, name, err)
	}
}

// Revoke takes back what Grant gave.
func (e *Etcd) Revoke(name, prefix string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	_, err := e.shared().RoleRevokePermission(ctx, name, prefix, clientv3.GetPrefixRangeEnd(prefix))
	if err != nil {
		e.t.Fatalf("revoking %s from %s: %v", prefix, name, err)
	}
}
