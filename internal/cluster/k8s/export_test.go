package k8s

// ForgetPod makes the next DialPod open a new tunnel, as a watch does that sees the pod go.
func (c *Client) ForgetPod(namespace, pod string) {
	c.tunnels.forget(podKey{c.namespace(namespace), pod})
}
