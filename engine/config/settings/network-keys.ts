/** The two keys that give commands network access. They count as one setting. */
export const networkKeys: ReadonlySet<string> = new Set([
  'sandbox_workspace_write.network_access',
  'sandbox_workspace_write.allowed_hosts',
])
