import { getSystemErrorMap } from 'node:util'

/** An errno name with what it means, `no space left on device (ENOSPC)`; anything else as it is. */
export function errnoText(name: string): string {
  for (const [known, meaning] of getSystemErrorMap().values()) if (known === name) return `${meaning} (${name})`
  return name
}
