import type { Readable } from 'node:stream'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import type { Refs } from './refs.ts'
import type { WorktreeScope } from './private-copy.ts'
import type { ConfigEntry } from './config-file.ts'

/** The two sides of an import. */
export type ImportSides = {
  readonly git: HostGit
  /** The host's repository, which no command can write. */
  readonly host: HeldDirectory
  /** The commands' side: nothing in it is trusted. */
  readonly left: HeldDirectory
  readonly oidBytes: number
  readonly scopes: readonly WorktreeScope[]
  /** A name for this run, which becomes part of a ref's name. */
  readonly run: string
}

/** The state that both sides had in common at the last comparison; the import updates it. */
export type Known = {
  refs: Map<string, string>
  /** Files of the private directory by their paths. */
  readonly files: Map<string, Buffer>
  /** The host's versions of files that differ from them. */
  readonly raw: Map<string, Buffer>
  /** Settings shown to commands, by the path of their file. */
  readonly config: Map<string, readonly ConfigEntry[]>
}

/** Messages about an import for the user. */
export type ImportNote = { readonly subject: string; readonly advice: string }

/** The result of a part of an import. */
export type ImportResult = {
  readonly notes: readonly ImportNote[]
  /** Whether the private side still has changes that the host rejects: then it must be made anew. */
  readonly stale: boolean
}

/** Refs except those that belong to one work tree, which count as state. */
export function sharedRefs(refs: Refs): Map<string, string> {
  return new Map([...refs].filter(([name]) => !/^refs\/(?:bisect|worktree|rewritten)\//.test(name)))
}

/** Remembers the current state of both sides. */
export function remember(known: Known, name: string, left: Buffer, host: Buffer): void {
  known.files.set(name, left)
  known.raw.set(name, host)
}

/** Whether two contents, or their absence, are the same. */
export function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b)
}

/** The objects of the private directory that the host doesn't have, as a pack that git made in the sandbox. */
export type PackObjects = () => { readonly stdout: Readable; readonly done: Promise<string | undefined> }

/** The private directory's objects that the host may lack. */
export type NewObjects = {
  /** Whether the host has been given all of them before: it may have removed some since. */
  readonly given: boolean
  /** Ways to get them as a pack, each for the case that the one before failed; empty if there are no objects. */
  readonly packs: readonly PackObjects[]
  /** The ids of objects whose content was checked against its id; and those that are commits. */
  readonly oids: ReadonlySet<string>
  readonly commits: ReadonlySet<string>
}

/** Runs git in the sandbox to make a pack of the objects that only the private directory has; `git` is that directory's path there. */
export type RunPack = (git: string, oidBytes: number) => ReturnType<PackObjects>
