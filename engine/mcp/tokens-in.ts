import { join } from 'node:path'
import type { AppPaths } from '../core/app-paths.ts'

/** The folder of the tokens of servers, in this program's state, which commands don't see. */
export function tokensIn({ state }: Pick<AppPaths, 'state'>): string {
  return join(state, 'mcp-tokens')
}
