import { join } from 'node:path'
import { writeFileSync } from '../host-paths.ts'
import { namesInside, type Credential } from '../credentials/credential.ts'
import type { Service } from './service.ts'

type Named = { readonly services: readonly Service[]; readonly credentials: readonly Credential[] }

/** What a hosts file says at least. */
export const plainHosts = '127.0.0.1 localhost\n::1 localhost\n'

/**
 * Writes a hosts file into a directory that no command can write to, and returns its path. In it, the names of services and of credentials' hosts mean `localhost`, whatever
 * `base`, the text of another hosts file, says about them.
 */
export function writeHosts(policy: Named, base: string, directory: string): string {
  const names = new Set(namesIn(policy))
  const own = ['127.0.0.1', '::1'].map((address) => `${[address, ...names].join(' ')}\n`)
  const others = base.split('\n').map((line) => {
    const [address, ...hosts] = line.replace(/#.*/, '').split(/\s/)
    return hosts.some((host) => names.has(host.toLowerCase()))
      ? [address, ...hosts.filter((host) => !names.has(host.toLowerCase()))].join(' ')
      : line
  })
  const file = join(directory, 'hosts')
  writeFileSync(file, `${own.join('')}${others.join('\n')}`, { mode: 0o444 })
  return file
}

/** Whether commands need a hosts file of their own. */
export function hasNames(policy: Named): boolean {
  return namesIn(policy).length > 0
}

function namesIn({ services, credentials }: Named): readonly string[] {
  return [...services.flatMap(({ name }) => (name === undefined ? [] : [name])), ...namesInside(credentials)]
}
