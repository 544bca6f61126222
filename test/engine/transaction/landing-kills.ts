import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import { recover } from '../../../apply-patch/index.ts'
import { killAt, runPlainly, traceCalls, untilStruck } from '../../apply-patch/files/strace.ts'
import { snapshot } from '../../apply-patch/files/tree-tools.ts'
import { agent } from '../../support/agent.ts'
import { call, say, startMockOpenAI } from '../../support/mock-openai.ts'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

const files: Readonly<Record<string, string>> = {
  'updated-1.txt': 'old\n',
  'updated-2.txt': 'old\n',
  'mode.sh': '#!/bin/sh\n',
  'removed.txt': 'r\n',
  'gone/d/x.txt': 'x\n',
  'from.txt': 'moved\n',
  'dir-to-file/x.txt': 'x\n',
  'file-to-dir': 'f\n',
}

const command = [
  'echo new > updated-1.txt; echo new > updated-2.txt; chmod 755 mode.sh; rm removed.txt; rm -r gone; mv from.txt to.txt',
  'rm -r dir-to-file; echo f > dir-to-file; rm file-to-dir; mkdir file-to-dir; echo in > file-to-dir/in.txt',
  'mkdir -p made/deep empty; echo m > made/deep/m.txt; ln -s made link; printf "\\0" > binary',
].join('; ')

const by = '-c user.name=x -c user.email=x@x'
const commits = `; git ${by} add -A && git ${by} commit -qm second && echo left > left.txt && git ${by} commit -q --allow-empty -m third`

/** How many calls were traced, at how many the program was killed, how many killed landings were complete, and the violated guarantees. */
type Kills = {
  readonly calls: number
  readonly tried: number
  readonly completed: number
  readonly failures: readonly string[]
}

/**
 * Uses `agent apply` to land the changes of a run (at least twelve files), and kills the program at each call that changes a file system, beginning
 * with the first one that is part of the landing. After `recover`, the tree must be either as it was before or as the run left it. In either case,
 * after applying the changes again, it must be as the run left it, and after an undo, its files must be as they were before.
 *
 * @param every 1 to kill the program at each call, N to kill it at every Nth call
 * @param withCommits whether the run also made commits, to which the branch moves. Files, branch, index and reflogs must then be all old or all new
 */
export async function killLandings(every: number, withCommits = false): Promise<Kills> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'portcullis-landing-')))
  const [tree, home, kept] = [join(base, 'tree'), join(base, 'home'), join(base, 'kept')]
  const stateDirectory = join(home, '.local/state/portcullis/apply-patch')
  for (const directory of [tree, home, kept]) mkdirSync(directory)
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(base, 'cache'),
  }
  const restore = (): void => {
    for (const directory of [tree, home]) rmSync(directory, { recursive: true, force: true })
    execFileSync('cp', ['-a', join(kept, 'tree'), join(kept, 'home'), base])
  }
  try {
    const id = await changeAll(tree, home, withCommits ? `${command}${commits}` : command)
    execFileSync('cp', ['-a', tree, home, kept])
    const apply = [
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      tree,
      process.execPath,
      '--single-threaded',
      program,
      'apply',
      id,
      ...(withCommits ? [] : []),
    ]
    const undo = [...apply.slice(0, apply.indexOf('apply')), 'undo', id]
    const old = look(tree)
    await runPlainly(apply, env)
    const landed = look(tree)
    restore()
    const calls = await traceCalls(apply, env, stateDirectory)
    const chosen = calls.filter(({ reads }) => !reads).filter((_, index) => index % every === 0)
    let [tried, completed] = [0, 0]
    const failures: string[] = []
    for (const one of chosen) {
      const { killed } = await untilStruck(one, (call) => {
        restore()
        return killAt(call, apply, env)
      })
      if (!killed) continue
      tried += 1
      await recover({ root: tree, stateDirectory })
      const now = look(tree)
      const [isOld, isNew] = [isDeepStrictEqual(now, old), isDeepStrictEqual(now, landed)]
      if (isNew) completed += 1
      if (!isOld && !isNew) failures.push(`killed at ${one.text}: neither old nor new: ${JSON.stringify(now)}`)
      const again = await runPlainly(apply, env)
      if (!isDeepStrictEqual(look(tree), landed))
        failures.push(`killed at ${one.text}: not landed afterwards: ${again.stderr}`)
      // Changes that have already landed don't count as conflicts.
      else if (again.stderr !== '') failures.push(`killed at ${one.text}: applied again: ${again.stderr}`)
      // The session records the landing, whether it happened before the kill or now.
      const undone = await runPlainly(undo, env)
      if (!isDeepStrictEqual(filesOf(look(tree)), filesOf(old)))
        failures.push(`killed at ${one.text}: not taken back: ${undone.stderr}`)
    }
    return { calls: calls.length, tried, completed, failures }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const filesOf = ({ '.git': _, ...files }: ReturnType<typeof look>): Readonly<Record<string, string>> => files

/**
 * All files except git's own, what git shows of the repository (without the times in reflogs), the names of its objects and packs, and leftover lock and
 * temporary files in `.git`.
 */
function look(tree: string): Readonly<Record<string, string>> {
  const git = (...words: string[]): string => {
    try {
      return execFileSync('git', ['--no-optional-locks', ...words], { cwd: tree, encoding: 'utf8', stdio: 'pipe' })
    } catch (error) {
      return (error as Error).message
    }
  }
  const log = (name: string): string => {
    const lines = git('reflog', 'show', '--format=%H %gs', name)
    return lines.startsWith('Command failed') ? '' : lines
  }
  const left = readdirSync(join(tree, '.git'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.lock$|\.apply-patch|^objects\//.test(name),
  )
  return {
    ...Object.fromEntries(Object.entries(snapshot(tree)).filter(([name]) => !/^\.git(?:\/|$)/.test(name))),
    '.git': [
      readFileSync(join(tree, '.git/HEAD'), 'utf8'),
      git('for-each-ref'),
      git('ls-files', '--stage'),
      git('status', '--porcelain'),
      log('HEAD'),
      log('main'),
      ...left,
    ].join('\n'),
  }
}

/** Makes the tree a repository, and performs a run in it that executes the command `made` and lands nothing. Returns the id of its session. */
async function changeAll(tree: string, home: string, made: string): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const script = `git init -q -b main && echo base > base.txt && git add base.txt && git ${by} commit -qm first`
  execFileSync('sh', ['-c', script], { cwd: tree })
  const replies = [[call('exec_command', { cmd: made })], [say('done')]]
  const mock = await startMockOpenAI({ replies: (_, index) => replies[index] ?? [say('done')], ids: randomUUID() })
  try {
    const url = ['-c', `openai_base_url=${mock.baseUrl}`]
    const args = ['exec', '-m', 'gpt-5.5', ...url, '--json', '--view=copy', '--land', 'never', 'x']
    const { stdout } = await agent(args, { cwd: tree, home, env: { OPENAI_API_KEY: 'sk-test-key' } })
    return /"thread_id":"([^"]+)"/.exec(stdout)?.[1] ?? ''
  } finally {
    await mock.close()
  }
}
