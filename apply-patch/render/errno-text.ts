import { getSystemErrorMap } from 'node:util'

/** An errno name with its meaning, such as `no space left on device (ENOSPC)`; any other text unchanged. */
export function errnoText(name: string): string {
  for (const [known, meaning] of getSystemErrorMap().values()) if (known === name) return `${meaning} (${name})`
  return name
}
