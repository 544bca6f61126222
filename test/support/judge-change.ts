import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { JudgeSettings } from '../../engine/core/verification-settings.ts'
import { watchOwn } from '../../engine/run/judge/judge-attempt.ts'
import { judgeChange, type Judged } from '../../engine/run/judge/judge-change.ts'
import { Judge } from '../../engine/run/judge/judge.ts'
import { makeView } from '../../engine/transaction/private-view.ts'
import type { PrivateView } from '../../engine/transaction/stored-view.ts'
import { recordChanges } from '../../engine/transaction/record-changes.ts'
import { runVerification } from '../../engine/tools/run-verification.ts'
import type { ToolContext } from '../../engine/tools/tool.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { lockedFolder } from '../engine/transaction/locked-folder.ts'
import { openPath } from './call-path.ts'
import { tempDir } from './temp-dir.ts'

/** Files by their paths. Null: removed. An object: a symbolic link. A text that begins with `#!` is executable. */
export type Files = Readonly<Record<string, string | null | { readonly link: string }>>

/** What is judged: a base, what a run changes in it, and the command that must succeed. */
export type Case = {
  readonly files: Files
  readonly change: Files
  readonly command: string
  readonly settings?: Partial<JudgeSettings>
  /** Directories that commands may read. Default: none. */
  readonly readable?: readonly string[]
  /** Commands that the run executes in its view before it is done. Default: none. */
  readonly runs?: string
  /** What commands can't read. Default: nothing of the tree. */
  readonly denied?: readonly string[]
  readonly unixSockets?: boolean
}

/** Where the results of bases are stored, so that each base is tested once. */
const cache = mkdtempSync(join(realpathSync(tmpdir()), 'portcullis-test-judge-'))
process.on('exit', () => rmSync(cache, { recursive: true, force: true }))

export function writeFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path)
    rmSync(place, { recursive: true, force: true })
    if (content === null) continue
    mkdirSync(dirname(place), { recursive: true })
    if (typeof content !== 'string') symlinkSync(content.link, place)
    else {
      writeFileSync(place, content)
      if (content.startsWith('#!')) chmodSync(place, 0o755)
    }
  }
}

/** A repository with one commit of these files, except of those that it ignores. */
export function committed(files: Files): string {
  const root = tempDir()
  writeFiles(root, files)
  const git = (...words: readonly string[]) => execFileSync('git', ['-C', root, ...words])
  git('init', '-q')
  git('add', '-A')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'base')
  return root
}

/** What a change is judged with. */
export type Opened = {
  readonly root: string
  readonly view: PrivateView
  readonly subject: Judge
  readonly context: ToolContext
}

/**
 * Opens the judge of a change with the real sandbox and the real runners.
 */
export async function withJudge<Result>(
  { files, change, settings, readable = [], runs, denied = [], unixSockets = false }: Omit<Case, 'command'>,
  use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const root = committed(files)
  const directory = lockedFolder()
  const view = await makeView(directory, [root], 'copy', '')
  const policy = parsePolicy({
    mode: 'workspace-write',
    workspace: root,
    views: [...view.views],
    deniedReads: [directory, ...denied],
    readableRoots: [...readable],
    // Without this, go compiles its library anew for each command.
    writableRoots: [cache],
    environment: { set: { GOCACHE: join(cache, 'go') } },
    unixSockets,
  })
  const sandbox = await openSandbox(policy)
  try {
    writeFiles(view.views[0]?.source ?? '', change)
    if (runs !== undefined) await sandbox.spawn({ argv: ['sh', '-c', runs], cwd: root }).result
    const { path } = await openPath({ tools: [], sandbox })
    const { guardian, ...shared } = path.context
    const context: ToolContext = {
      ...shared,
      guardian,
      review: (action, options) => guardian.review(action, { byUser: '--verify', ...options }),
      callId: 'verify_1',
      signal: new AbortController().signal,
      startItem: () => ({
        update: () => undefined,
        tail: () => undefined,
        began: () => undefined,
        complete: () => undefined,
      }),
    }
    const subject = new Judge({
      view,
      workspace: root,
      settings: { report: undefined, protect: [], allowTestChanges: false, allowWeakening: [], ...settings },
      cache: join(cache, 'bases'),
      changes: () => recordChanges(view, sandbox, true),
      openOwn: (own) => openSandbox(own, { known: sandbox.known?.() }),
      openCopies: (copies) => openSandbox(copies),
    })
    return await use({ root, view, subject, context })
  } finally {
    await sandbox.close()
  }
}

/**
 * Judges a change.
 *
 * @returns what was judged; or how the command ended, if it didn't succeed in the run's own tree
 */
export function judge({ command, ...given }: Case): Promise<Judged | string> {
  return withJudge(given, async ({ subject, context }) => {
    const watch = await watchOwn(subject, command, context)
    const result = await runVerification(command, 1, context, watch)
    const own = await watch?.end()
    if (result.type !== 'passed') return result.type === 'failed' ? `${result.end}\n${result.words}` : result.why
    if (own === undefined) return 'nothing changed'
    return judgeChange(subject, command, own, context)
  })
}
