import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { homeDirectory } from './home.ts'
import type { Grant } from './action.ts'
import { isInside } from './is-inside.ts'

/**
 * Describes a grant in words, with its full extent.
 *
 * @example console.log(describeGrant({ kind: 'network', host: 'example.com', port: 443 })) // connecting to example.com:443
 */
export function describeGrant(grant: Grant): string {
  switch (grant.kind) {
    case 'read':
      return `reading ${grant.path}${below(grant.path)}`
    case 'write':
      return `writing ${grant.path}${below(grant.path)}`
    case 'network':
      return `connecting to ${grant.host}${grant.port === undefined ? ' on ports 80 and 443' : `:${grant.port}`}${grant.private === true ? ', even at a private address' : ''}`
    case 'limit':
      return `a limit of ${grant.value} for ${grant.name}`
    default:
      return grant satisfies never
  }
}

function below(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? ' and everything in it' : ''
}

/** Whether the grant `by` already includes everything that `grant` allows. */
export function isCovered(grant: Grant, by: Grant): boolean {
  switch (grant.kind) {
    case 'read':
    case 'write':
      return by.kind === grant.kind && isInside(grant.path, by.path)
    case 'network':
      return (
        by.kind === 'network' &&
        by.host === grant.host &&
        by.port === grant.port &&
        (by.private === true || grant.private !== true)
      )
    case 'limit':
      return by.kind === 'limit' && by.name === grant.name && by.value >= grant.value
    default:
      return grant satisfies never
  }
}

/** Whether a grant would undo the sandbox: it covers the home folder or a parent of it, contains a pattern of hosts, or removes a limit. */
export function isTooWide(grant: Grant): boolean {
  switch (grant.kind) {
    case 'read':
    case 'write':
      return isInside(homeDirectory(), resolve(grant.path))
    case 'network':
      return !/^[\w.:-]+$/.test(grant.host)
    case 'limit':
      return !Number.isFinite(grant.value)
    default:
      return grant satisfies never
  }
}
