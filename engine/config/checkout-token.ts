import { join } from 'node:path'
import { readHostFile } from '../../sandbox/index.ts'

const header = /^[ \t]*extraheader = "?authorization: basic ([A-Za-z\d+/=]+)"?$/gim
const included = /^[ \t]*path = (\/.*git-credentials-[\da-f-]+\.config)$/gim

/**
 * The job's token of GitHub Actions, which `actions/checkout` leaves in the repository's configuration as a base64-coded header, since its version 6 in a
 * file that the configuration includes; undefined if there is none.
 */
export function checkoutToken(workspace: string): string | undefined {
  const config = textOf(join(workspace, '.git', 'config'))
  const files = [...config.matchAll(included)].map(([, path = '']) => textOf(path))
  for (const [, coded = ''] of [config, ...files].flatMap((text) => [...text.matchAll(header)])) {
    const [user, token] = Buffer.from(coded, 'base64').toString().split(':')
    if (user === 'x-access-token' && token !== undefined) return token
  }
  return undefined
}

function textOf(path: string): string {
  return readHostFile(path)?.toString() ?? ''
}
