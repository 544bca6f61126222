/** The keys that give commands the network; the two are one setting. */
export const networkKeys: ReadonlySet<string> = new Set([
  'sandbox_workspace_write.network_access',
  'sandbox_workspace_write.allowed_hosts',
])
