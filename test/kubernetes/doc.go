// Package kubernetes has no code, only a test: the manifests of deploy/kubernetes against a real API server and a real
// etcd, and the server started with the Corefile, the account and the rights that those manifests make.
//
// Run it with `make e2e-kubernetes`, as root on Linux. It builds kube-apiserver and etcd from their modules, which takes
// ten minutes of two cores the first time; afterwards they come from Go's build cache and from the directory
// trident-e2e of the user's cache directory. Everything runs in a network namespace of its own, so that the Corefile with
// its ports and addresses is used as it is.
package kubernetes
