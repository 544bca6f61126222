import type { Readable } from 'node:stream'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import type { WorktreeScope } from './private-copy.ts'
import type { ConfigEntry } from './config-file.ts'

/** The two sides of an import. */
export type ImportSides = {
  readonly git: HostGit
  /** The host's repository, which no command can write to. */
  readonly host: HeldDirectory
  /** The private directory that commands changed. Nothing in it is trusted. */
  readonly left: HeldDirectory
  readonly oidBytes: number
  readonly scopes: readonly WorktreeScope[]
  /** A name for this run, which becomes part of the names of refs. */
  readonly run: string
}

/** The state that the private repository and the host's repository had in common when they were last compared. The import updates it. */
export type Known = {
  refs: Map<string, string>
  /** The content of files in the private directory, by path. `raw` has the host's versions, which may differ. */
  readonly files: Map<string, Buffer>
  /** The content of files in the host's repository, by path. `files` has the private versions, which may differ. */
  readonly raw: Map<string, Buffer>
  /** The settings shown to commands, by the path of their file. */
  readonly config: Map<string, readonly ConfigEntry[]>
}

/** A message for the user about a part of an import: what it is about, and what happened or what the user can do. */
export type ImportNote = { readonly subject: string; readonly advice: string }

/** The result of one part of an import. */
export type ImportResult = {
  readonly notes: readonly ImportNote[]
  /** Whether the private directory must be created again, for example because it contains changes that were not imported. */
  readonly stale: boolean
}

/** Remembers the current content of a file on both sides. */
export function remember(known: Known, name: string, left: Buffer, host: Buffer): void {
  known.files.set(name, left)
  known.raw.set(name, host)
}

/** Whether two contents are the same, or both are missing. */
export function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b)
}

/**
 * A function that starts to pack those of the private directory's objects that the host may lack. `done` resolves to the error, or to undefined if
 * there is none.
 */
export type PackObjects = () => { readonly stdout: Readable; readonly done: Promise<string | undefined> }

/** Git objects in the private directory that the host may lack. */
export type NewObjects = {
  /** Whether the host has already received all of the objects. It may have removed some of them since then. */
  readonly given: boolean
  /**
   * Functions that return the objects as a pack. Each is tried only if the previous pack failed or left objects missing. The list is empty if there
   * are no objects.
   */
  readonly packs: readonly PackObjects[]
  /** The ids of objects whose content is known to match the id. `commits` contains those ids that belong to commits. */
  readonly oids: ReadonlySet<string>
  readonly commits: ReadonlySet<string>
}

/**
 * A function that runs git in the sandbox to make a pack of the objects that only the private directory has. `git` is the path on the host of the
 * repository that the directory replaces. `isReachable`: only of those that its refs, reflogs and index lead to.
 */
export type RunPack = (git: string, oidBytes: number, isReachable?: boolean) => ReturnType<PackObjects>
