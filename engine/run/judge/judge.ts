import { matchesGlob } from 'node:path/posix'
import { join, relative } from 'node:path'
import type { Sandbox, SandboxPolicy } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
import type { JudgeSettings } from '../../core/verification-settings.ts'
import type { ToolContext } from '../../tools/tool.ts'
import { notIgnored, type ChangeRecord, type RunChange } from '../../transaction/change-record.ts'
import type { PrivateView } from '../../transaction/stored-view.ts'
import { BaseCache, type StoredRun } from './base-cache.ts'
import { entryTexts, settingsText, settingsTexts } from './changed-configuration.ts'
import { hashTree, type TreeHashes } from './hash-tree.ts'
import { partOf, type JudgePart } from './judge-parts.ts'
import { judgedApart, type JudgedApart } from './judged-apart.ts'
import { isIn, linkIn, type JudgeTree } from './judge-tree.ts'
import { reachCommand, scriptsOf, type Reached } from './reach-command.ts'
import { Trials } from './trials.ts'
import type { WatchOptions } from './watched-command.ts'

/** What a judge needs of the run whose changes it judges. */
type JudgeOptions = {
  readonly view: PrivateView
  /** The real path of the directory in which the run works. */
  readonly workspace: string
  readonly settings: JudgeSettings
  /** Where the results of bases are stored. Undefined: nowhere. */
  readonly cache: string | undefined
  /** Lists what the run has changed. */
  readonly changes: () => Promise<ChangeRecord>
  /** Opens a sandbox that shows the run's own view, at which commands can't change since the run began. */
  readonly openOwn: (policy: SandboxPolicy) => Promise<Sandbox>
  /** Opens a sandbox that shows copies. */
  readonly openCopies: (policy: SandboxPolicy) => Promise<Sandbox>
}

/** A command's run on the base. `cached`: an earlier run did that. */
type BaseRun = StoredRun & { readonly cached: boolean }

/** The judge of a run's changes: the tests and the configuration of its base. */
export class Judge {
  readonly options: JudgeOptions
  readonly #cache: BaseCache
  readonly #trials: Trials
  readonly #bases = new Map<string, BaseRun>()
  #hashes: TreeHashes | undefined
  #record: ChangeRecord | undefined
  #judged: string | undefined

  constructor(options: JudgeOptions) {
    this.options = options
    this.#cache = new BaseCache(options.cache)
    this.#trials = new Trials({
      view: options.view,
      workspace: options.workspace,
      open: options.openCopies,
      judged: () => this.hashes.files.filter((path) => this.part(path) !== 'manifest'),
    })
  }

  /** Lists what the run has changed now. Looking through a large tree takes a while, so each command that may have changed something is followed by one look. */
  async look(): Promise<ChangeRecord> {
    this.#record = await this.options.changes()
    return this.#record
  }

  /** What the run had changed when that was last listed. What was changed since then doesn't land: see `whyOthers`. */
  async lastLook(): Promise<ChangeRecord> {
    return this.#record ?? (await this.look())
  }

  /** Remembers what has been judged, so that nothing else lands. */
  noteJudged(record: Pick<ChangeRecord, 'changes'>): void {
    this.#judged = stateOf(notIgnored(record))
  }

  /** Why the run's changes aren't those that were judged; undefined if they are, or if nothing was judged. Call it when no command is running any more. */
  async whyOthers(): Promise<string | undefined> {
    if (this.#judged === undefined) return undefined
    if (stateOf(notIgnored(await this.options.changes())) === this.#judged) return undefined
    return 'Files were changed after the --verify commands had judged them, by a command that was still running. Run the commands again.'
  }

  /** The tree that contains the workspace: as the user has it, and as the run sees it. */
  get tree(): { readonly path: string; readonly source: string } {
    const { view, workspace } = this.options
    const found = view.views.find(({ path }) => isInside(workspace, path))
    if (found === undefined) throw new TypeError('the workspace is in no tree of the view')
    return found
  }

  /** The workspace, relative to the root of its tree. */
  get cwd(): string {
    return relative(this.tree.path, this.options.workspace)
  }

  /** Hashes of the base, taken once. */
  get hashes(): TreeHashes {
    return (this.#hashes ??= hashTree(this.tree.path, (path) => isOfJudge(this.part(path))))
  }

  /**
   * What a file is to the judge.
   *
   * @param hasTests whether tests were seen in it
   * @param reached what the command runs
   */
  part(path: string, hasTests: (path: string) => boolean = () => false, reached?: Reached): JudgePart {
    const { protect } = this.options.settings
    return partOf(path, {
      hasTests,
      isProtected: (each) => matchesAny(each, protect),
      isReached: (each) => reached?.files.includes(each) === true,
      exists: (each) => [this.tree.path, this.tree.source].some((root) => isIn(root, each)),
    })
  }

  /**
   * Finds those of some changed files that may belong to the judge of a command although they are sources: see `judgedApart`.
   *
   * @param hasTests whether tests were seen in a file
   */
  apart(
    paths: readonly string[],
    { text }: Reached,
    part: (path: string) => JudgePart,
    hasTests: (path: string) => boolean,
  ): JudgedApart {
    if (paths.length === 0) return { named: [], groups: [], arePackage: false }
    const root = this.tree.path
    const { files, tracked } = this.hashes
    return judgedApart(paths, [{ folder: this.cwd, text }, ...settingsTexts(files, root, this.cwd, text)], {
      files: tracked,
      cwd: this.cwd,
      hasTests,
      isTest: (path) => hasTests(path) || part(path) === 'test',
      isSource: (path) => part(path) === 'source',
      entries: entryTexts(files, root),
      targetOf: (path) => linkIn(root, path),
      read: (path) => settingsText(root, path),
      readNew: (path) => settingsText(this.tree.source, path),
    })
  }

  /** What a command runs in a tree, in which `read` reads a file. */
  reach(command: string, read: Read, manifests: readonly string[] = []): Reached {
    const own = join(this.cwd, 'package.json')
    return reachCommand(command, {
      read,
      cwd: this.cwd,
      manifests: [...new Set([own, ...manifests])],
    })
  }

  /** How a command's tests are watched in a tree, in which `read` reads a file. */
  watchOptions(command: string, read: Read, asks: boolean): WatchOptions {
    return {
      command,
      asks,
      reached: this.reach(command, read).text,
      scripts: scriptsOf(read(join(this.cwd, 'package.json'))),
      report: this.options.settings.report,
    }
  }

  /** What a command does on the base, if an earlier run of it is known. */
  knownBase(command: string): BaseRun | undefined {
    const known = this.#bases.get(command)
    if (known !== undefined) return known
    const stored = this.#cache.read(this.#keyOf(command))
    if (stored !== undefined) this.#bases.set(command, { ...stored, cached: true })
    return this.#bases.get(command)
  }

  /**
   * What a command does on the base. It runs there unless that is known.
   *
   * @returns undefined if the command isn't allowed to run
   */
  async base(command: string, context: ToolContext): Promise<BaseRun | undefined> {
    const known = this.knownBase(command)
    if (known !== undefined) return known
    const found = await this.#runBase(command, context)
    if (found === undefined) return undefined
    this.#cache.write(this.#keyOf(command), found)
    const result = { ...found, cached: false }
    this.#bases.set(command, result)
    return result
  }

  #keyOf(command: string): readonly string[] {
    return ['3', this.hashes.tree, command, this.cwd, JSON.stringify(this.options.settings.report ?? null)]
  }

  /**
   * Runs a command on the base. If it fails before any test, that may be because a program doesn't know the options that ask for a report, so it runs once more
   * without them.
   */
  async #runBase(command: string, context: ToolContext): Promise<StoredRun | undefined> {
    const run = (asks: boolean): Promise<StoredRun | undefined> => this.runOn(command, asks, context)
    const asked = await run(true)
    if (asked === undefined || asked.succeeded || asked.tests.length > 0) return asked
    const plain = await run(false)
    // If it ends in the same way without the options, they aren't why it fails.
    return plain === undefined || plain.exitCode === asked.exitCode ? asked : plain
  }

  /**
   * Runs a command on the base.
   *
   * @param prepare makes changes to the trees in which it runs
   */
  runOn(
    command: string,
    asks: boolean,
    context: ToolContext,
    prepare?: (trees: readonly JudgeTree[]) => void,
  ): Promise<StoredRun | undefined> {
    return this.#trials.run((read) => this.watchOptions(command, read, asks), context, prepare)
  }
}

type Read = (path: string) => string | undefined

/** A text that differs if the run's changes do. */
export function stateOf(changes: readonly RunChange[]): string {
  return JSON.stringify(changes.map(({ root, path, after }) => [root, path, after]))
}

/** Whether a part decides what is tested and how. */
function isOfJudge(part: JudgePart): boolean {
  return part === 'test' || part === 'config' || part === 'manifest'
}

/** Whether a path, or the name of a file in any directory, matches one of the globs. */
export function matchesAny(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1), glob))
}
