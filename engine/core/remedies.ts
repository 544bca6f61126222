import { makeFirst, type Remedy } from '../../sandbox/index.ts'
import { writeLimit } from './limit-values.ts'
import { shellJoin } from './text/shell-join.ts'

const dockerSocket = '--dangerously-mount-docker-socket, which gives commands root access to this machine'

const otherSockets = 'which also lets commands connect to every socket on this machine that they can see'

const byHand = 'make this change yourself, outside the sandbox'

/** Returns the flags of `agent sandbox` that would allow what was denied; if there are none, advice in words. */
export function remedyAsFlags(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'add-root':
      return makeFirst(remedy) + shellJoin([remedy.to === 'writableRoots' ? '--writable' : '--readable', remedy.path])
    case 'show-denied':
      return shellJoin(['--readable', remedy.path])
    case 'unprotect':
      return byHand
    case 'show-docker-socket':
      return dockerSocket
    case 'open-unix-sockets':
      return `--allow-unix-sockets, ${otherSockets}`
    case 'use-mode':
      return `-s ${remedy.mode}`
    case 'allow-host':
      return typeof remedy.host === 'string'
        ? shellJoin(['--allow-host', remedy.host])
        : shellJoin(['--allow-private-host', remedy.host.host])
    case 'add-service':
      return shellJoin(['--service', remedy.service])
    case 'use-credential':
      return `${credentialFor(remedy.host)}; for anything else, ${shellJoin(['--allow-host', `${remedy.host}:22`])}`
    case 'raise-limit': {
      const { name, value } = writeLimit(remedy.limit, 2 * remedy.value)
      return `raise the limit, e.g. --limit ${name}=${value}`
    }
    case 'otherwise':
      return remedy.advice
    default:
      return remedy satisfies never
  }
}

/** Returns the configuration keys or options of `agent exec` that would allow what was denied; if there are none, advice in words. */
export function remedyAsConfig(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'add-root':
      return remedy.to === 'writableRoots'
        ? makeFirst(remedy) + addTo('sandbox_workspace_write.writable_roots', JSON.stringify(remedy.path))
        : addTo('sandbox_read.allow', JSON.stringify(remedy.path))
    case 'show-denied':
      return addTo('sandbox_read.allow', JSON.stringify(remedy.path))
    case 'unprotect':
      return byHand
    case 'show-docker-socket':
      return dockerSocket
    case 'open-unix-sockets':
      return `set allow_unix_sockets = true in your own config.toml, ${otherSockets}, or pass -c allow_unix_sockets=true`
    case 'use-mode':
      return `-s ${remedy.mode}, or sandbox_mode = "${remedy.mode}"`
    case 'allow-host':
      return addTo(
        'sandbox_workspace_write.allowed_hosts',
        typeof remedy.host === 'string'
          ? JSON.stringify(remedy.host)
          : `{ host = ${JSON.stringify(remedy.host.host)}, allow_private = true }`,
      )
    case 'add-service':
      return `pass ${shellJoin(['--service', remedy.service])}, or add ${JSON.stringify(remedy.service)} to services in your own config.toml`
    case 'use-credential': {
      const entry = JSON.stringify(`${remedy.host}:22`)
      return `${credentialFor(remedy.host)}; for anything else, ${addTo('sandbox_workspace_write.allowed_hosts', entry)}`
    }
    case 'raise-limit': {
      if (remedy.limit === 'wallTimeMs') return 'call the tool with a longer timeout_ms'
      const { name, value } = writeLimit(remedy.limit, 2 * remedy.value)
      const key = `sandbox_limits.${name.replaceAll('-', '_')}`
      return `raise ${key}, e.g. ${shellJoin(['-c', `${key}="${value}"`])}`
    }
    case 'otherwise':
      return remedy.advice
    default:
      return remedy satisfies never
  }
}

function credentialFor(host: string): string {
  return `for git, pass --credential NAME (such as github) with a credential for ${host}, by which git asks it by https: ssh has no key in the sandbox`
}

function addTo(key: string, value: string): string {
  return `add ${value} to ${key} in config.toml, or pass ${shellJoin(['-c', `${key}=[${value}]`])}`
}
