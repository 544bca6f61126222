import { posix } from 'node:path'
import type { Fact } from './facts.ts'
import type { ShellWord } from './shell-word.ts'

/** Paths that make the machine connect to the host or AFS cell that they name (auto.master(5), `/net -hosts`; AFS's dynamic root). */
const mounting = /^\/+(?:net|afs)\/+([^/]+)/

/**
 * Returns a network fact for each host whose files the machine may mount because a command names a path to them. Even looking up a host's name can
 * leak data.
 */
export function mountedHosts(words: readonly ShellWord[]): readonly Fact[] {
  return words.flatMap((word): readonly Fact[] => {
    const text = word.kind === 'dynamic' ? word.prefix : word.text
    const host = text.startsWith('/') ? mounting.exec(posix.normalize(text))?.[1] : undefined
    return host === undefined ? [] : [{ class: 'network', hosts: [host] }]
  })
}
