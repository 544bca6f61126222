import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs'
import { accessList, capability, defaultList, modeWithout, plainList } from './access-list.ts'
import type { AttributePrograms, Attributes } from './attribute-programs.ts'
import { CommitError } from './commit-error.ts'
import { pathOf, type Entry, type Step, type WriteChange } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { readFlags } from './read-state.ts'

/** The extended attributes of the files that a commit replaces, moves or removes, and what has to be done so that the new files have them. */
export type KeptAttributes = {
  /** The attributes of a step's old file, for the journal; undefined if they are not known. */
  readonly before: (step: Step) => Attributes | undefined
  /** Whether the mode of a step's new file must stay closed to others until `give` is called. */
  readonly isHeld: (step: Step) => boolean
  /** Gives the new files their attributes and modes. @returns the files whose attributes are lost */
  readonly give: (modes: ReadonlyMap<Step, number>, isDurable: boolean) => readonly LostAttributes[]
}

export type LostAttributes = { readonly path: string; readonly names: readonly string[] }

const none: KeptAttributes = { before: () => undefined, isHeld: () => false, give: () => [] }

/** Reads the attributes of all old files of a commit in one go, because each call starts a program. */
export async function readAttributes(steps: readonly Step[], directories: Directories): Promise<KeptAttributes> {
  const old = steps.flatMap((step) => {
    const { type } = step.change.before
    return type === 'file' || type === 'unread' ? [step.journalEntry.target] : []
  })
  const wanted = steps.some(({ change }) => change.type === 'write' && change.attributes !== undefined)
  if (old.length === 0 && !wanted) return none
  const { findPrograms } = await import('./attribute-programs.ts')
  const programs = findPrograms()
  if (programs === undefined) return none
  const installs = steps.filter((step) => step.type === 'install' && isModelled(step.change))
  const parents = new Set(
    installs.map(({ journalEntry }) => (journalEntry.type === 'remove' ? '' : journalEntry.fresh.directory)),
  )
  const found = readEntries(
    programs,
    [...old, ...[...parents].map((directory) => ({ directory, name: '.' }))],
    directories,
  )
  const ofFile = (entry: Entry): Attributes | undefined => found.get(pathOf(entry))
  const targets = new Map(steps.map((step) => [step.change.place.key, step.journalEntry.target]))
  /** The attributes that the new file of a step gets. */
  const modelOf = ({ change, journalEntry }: Step & { readonly type: 'install' }): Attributes => {
    if (change.attributes !== undefined) return change.attributes
    const source = change.movedFrom && targets.get(change.movedFrom.key)
    const { [capability]: privileges, ...rest } = ofFile(source ?? journalEntry.target) ?? {}
    return privileges === undefined || change.isUnprivileged === true ? rest : { ...rest, [capability]: privileges }
  }
  const inherits = ({ journalEntry }: Step & { readonly type: 'install' }): boolean =>
    (ofFile({ directory: journalEntry.fresh.directory, name: '.' })?.[
      programs.kind === 'list' ? accessList : defaultList
    ] ?? undefined) !== undefined
  const held = new Set<Step>()
  for (const step of steps) {
    if (step.type !== 'install' || step.renamed !== undefined || !isModelled(step.change)) continue
    const model = modelOf(step)
    if (Object.keys(model).length === 0 && !inherits(step)) continue
    if (programs.kind === 'list' && model[accessList] !== undefined) throw unkept(step.change)
    held.add(step)
  }
  return {
    before: ({ journalEntry }) => (programs.kind === 'list' ? undefined : (ofFile(journalEntry.target) ?? {})),
    isHeld: (step) => held.has(step),
    give: (modes, isDurable) =>
      giveAll(
        [...held].flatMap((step) => (step.type === 'install' ? [{ step, model: modelOf(step) }] : [])),
        programs,
        modes,
        directories,
        isDurable,
      ),
  }
}

/** Whether a new file takes the place of an old one, so that it must not get more rights than that had. */
function isModelled(change: Step['change']): boolean {
  if (change.type === 'remove' || change.symlink !== undefined || change.mode === undefined) return false
  return change.before.type !== 'absent' || change.movedFrom !== undefined || change.attributes !== undefined
}

type Given = { readonly step: Step & { readonly type: 'install' }; readonly model: Attributes }

function giveAll(
  all: readonly Given[],
  programs: AttributePrograms,
  modes: ReadonlyMap<Step, number>,
  directories: Directories,
  isDurable: boolean,
): readonly LostAttributes[] {
  if (all.length === 0) return []
  const lost: LostAttributes[] = []
  // The paths lead through the descriptors of directories, of which only a number is open at a time.
  for (let from = 0; from < all.length; from += openAtOnce) {
    const part = all.slice(from, from + openAtOnce)
    const entries = part.map(({ step }) => step.journalEntry.fresh)
    const paths = entries.map((entry) => forChild(entry, directories))
    programs.write(
      new Map(
        part.map(({ step, model }, index) => [
          paths[index] ?? '',
          { ...model, [accessList]: model[accessList] ?? plainList(modes.get(step) ?? 0o600) },
        ]),
      ),
    )
    const now = programs.read(paths)
    for (const [index, { step, model }] of part.entries()) {
      const has = now.get(paths[index] ?? '') ?? {}
      const names = Object.keys({ ...model, [accessList]: '' }).filter((name) => has[name] !== model[name])
      const path = directories.entry(step.journalEntry.fresh.directory, step.journalEntry.fresh.name)
      chmodSync(path, safeMode(modes.get(step) ?? 0o600, model[accessList], has[accessList]))
      if (isDurable) sync(path)
      if (names.length > 0) lost.push({ path: step.change.place.path, names })
    }
  }
  return lost
}

/** The mode of a new file, so that nobody has more rights than before. @param wanted the list that it should have @param has the list that it has */
function safeMode(mode: number, wanted: string | undefined, has: string | undefined): number {
  if (has === wanted) return mode
  // With a list that isn't its own, the bits of the group would be rights of those in the list.
  if (has !== undefined) return mode & ~0o070
  return wanted === undefined ? mode : modeWithout(wanted, mode)
}

function sync(path: string): void {
  const descriptor = openSync(path, readFlags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** How many files are in one call of a program. All may be in different directories, which must stay open until it ends. */
const openAtOnce = 150

/** How many files are read at a time, so that the memory for their paths doesn't grow with a patch. All of them are in one call of a program. */
const readAtOnce = 1500

function readEntries(
  programs: AttributePrograms,
  entries: readonly Entry[],
  directories: Directories,
): ReadonlyMap<string, Attributes> {
  const found = new Map<string, Attributes>()
  for (let from = 0; from < entries.length;) {
    const byPath = new Map<string, Entry>()
    const seen = new Set<string>()
    for (; from < entries.length; from++) {
      const entry = entries[from]
      if (entry === undefined || (seen.size === openAtOnce && !seen.has(entry.directory))) break
      if (byPath.size === readAtOnce) break
      seen.add(entry.directory)
      byPath.set(forChild(entry, directories), entry)
    }
    for (const [path, attributes] of programs.read([...byPath.keys()])) {
      const entry = byPath.get(path)
      if (entry !== undefined) found.set(pathOf(entry), attributes)
    }
  }
  return found
}

/** The path of an entry for another program: this process's descriptors have other names there. */
function forChild({ directory, name }: Entry, directories: Directories): string {
  return directories.entry(directory, name).replace(/^\/proc\/self\//, `/proc/${process.pid}/`)
}

function unkept(change: WriteChange): CommitError {
  const { path, key } = change.place
  return new CommitError('system', { operation: 'write', path, key, errno: 'ENOTSUP', held: 'listed' })
}

/** The parts of a warning about attributes that a new file doesn't have. */
export function lostText({ path, names }: LostAttributes): string {
  const what = names
    .map((name) => (name === accessList ? 'its access control list' : Buffer.from(name, 'latin1').toString()))
    .join(', ')
  return `${path} could not keep ${what}; nobody has more rights to the file than before`
}
