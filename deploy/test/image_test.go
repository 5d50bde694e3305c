package deploytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runImage runs image.sh in a world where only these builders are installed, and returns what it called and printed.
func runImage(t *testing.T, builders []string, env ...string) (calls, output string, err error) {
	t.Helper()
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	for _, b := range builders {
		script := "#!/bin/sh\necho " + b + " \"$@\" >>" + log + "\n"
		if err := os.WriteFile(filepath.Join(bin, b), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dirname, err := exec.LookPath("dirname")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dirname, filepath.Join(bin, "dirname")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "../image.sh")
	cmd.Env = append([]string{"PATH=" + bin}, env...)
	out, err := cmd.CombinedOutput()
	text, _ := os.ReadFile(log) // not there when nothing was called
	return string(text), string(out), err
}

func TestTheImageIsBuiltWithWhateverIsThere(t *testing.T) {
	const args = "--file deploy/Dockerfile --build-arg VERSION=1 --build-arg COMMIT="
	both := "PLATFORMS=linux/amd64,linux/arm64"
	for _, tt := range []struct {
		name     string
		builders []string
		env      []string
		want     string
	}{
		{"docker first", []string{"docker", "podman", "buildah"}, nil, "docker buildx build " + args + " --load --tag trident:1 .\n"},
		{"podman", []string{"podman", "buildah"}, nil, "podman build " + args + " --tag trident:1 .\n"},
		{"buildah", []string{"buildah"}, nil, "buildah build " + args + " --tag trident:1 .\n"},
		{"by name", []string{"docker", "buildah"}, []string{"BUILDER=buildah"}, "buildah build " + args + " --tag trident:1 .\n"},
		{"image", []string{"podman"}, []string{"IMAGE=example.com/dns:2"}, "podman build " + args + " --tag example.com/dns:2 .\n"},
		{"both platforms", []string{"podman"}, []string{both},
			"podman build " + args + " --platform linux/amd64,linux/arm64 --manifest trident:1 .\n"},
		{"both platforms pushed by docker", []string{"docker"}, []string{both, "PUSH=1"},
			"docker buildx build " + args + " --platform linux/amd64,linux/arm64 --push --tag trident:1 .\n"},
		{"both platforms pushed by buildah", []string{"buildah"}, []string{both, "PUSH=1"},
			"buildah build " + args + " --platform linux/amd64,linux/arm64 --manifest trident:1 .\n" +
				"buildah manifest push --all trident:1 docker://trident:1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, output, err := runImage(t, tt.builders, append(tt.env, "VERSION=1")...)
			if err != nil || calls != tt.want {
				t.Errorf("called %q (%v)\n  want %q\n%s", calls, err, tt.want, output)
			}
		})
	}
}

func TestWithoutABuilderTheScriptSaysWhatElseThereIs(t *testing.T) {
	for _, tt := range []struct {
		builders, env []string
		want          string
	}{
		{nil, nil, "make rootfs"},
		{[]string{"docker"}, []string{"BUILDER=kaniko"}, "want docker, podman or buildah"},
		{[]string{"docker"}, []string{"PLATFORMS=linux/amd64,linux/arm64"}, "PUSH=1"},
	} {
		calls, output, err := runImage(t, tt.builders, tt.env...)
		if err == nil || calls != "" || !strings.Contains(output, tt.want) {
			t.Errorf("builders %q, %q: called %q, error %v, printed %q, want %q", tt.builders, tt.env, calls, err, output, tt.want)
		}
	}
}

// What the manifests take for granted of the image.
func TestTheImageIsWhatTheManifestsExpect(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, found := strings.Cut(string(text), "FROM scratch\n")
	if !found {
		t.Fatal("the last stage is not made from scratch")
	}
	for _, want := range []string{"USER 65532:65532\n", `ENTRYPOINT ["/coredns"]`, `VOLUME ["/var/lib/trident", "/var/cache/trident"]`} {
		if !strings.Contains(final, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	if strings.Contains(final, "RUN ") {
		t.Error("something runs in the last stage, which has no shell and may be of another architecture")
	}
}
