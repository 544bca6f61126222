import { basename, join } from 'node:path'
import { analyseScript } from '../../policies/index.ts'
import { SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { hookCommand } from './hook-command.ts'
import { kindOf, type HookEvent } from './hook-event.ts'
import { runsOutside, type Hook, type HookSet } from './load-hooks.ts'

/** What the test of a run's hooks needs from the run. */
type SelfTestDependencies = {
  readonly workspace: string
  readonly home: string
  readonly sandboxFor: (hook: Hook) => Promise<Sandbox>
  readonly forbidsHost: (url: URL) => string | undefined
  /** Why the tools of a server can't be called; undefined if they can be. */
  readonly missingServer: (name: string) => string | undefined
}

/** A file that a hook needs. */
type Need = {
  readonly hook: Hook
  readonly event: HookEvent
  readonly kind: 'program' | 'script'
  readonly path: string
}

/** A shell script that checks each of its arguments: `program:…` must be executable, by name or path; `script:…` must be a readable file. */
const probe = `
at=0
for word do
  name=\${word#*:}
  case $word in
    program:*/*) if [ ! -f "$name" ]; then echo "$at missing"; elif [ ! -x "$name" ]; then echo "$at unrunnable"; fi ;;
    program:*) command -v -- "$name" > /dev/null 2>&1 || echo "$at missing" ;;
    script:*) if [ ! -f "$name" ]; then echo "$at missing"; elif [ ! -r "$name" ]; then echo "$at unreadable"; fi ;;
  esac
  at=$((at + 1))
done`

const probeTimeoutMs = 10_000

/**
 * Checks, before a run begins, whether its hooks can work. For a command hook, the program and the script that the program runs must exist in the
 * hook's environment. An `http` hook's host and an `mcp_tool` hook's server must be usable. A command isn't checked if it
 * begins with `cd`, or if its first word can't be determined.
 *
 * @returns a sentence with `file:line:column` for each hook that can't work; if a file's hooks can't be run at all, one sentence with the file's path
 */
export async function testHooks({ hooks }: HookSet, dependencies: SelfTestDependencies): Promise<readonly string[]> {
  const all = [...hooks].flatMap(([event, found]) => found.map((hook) => ({ event, hook })))
  const remote = all.flatMap(({ event, hook }) => {
    const { handler } = hook
    const problem =
      handler.type === 'http'
        ? dependencies.forbidsHost(new URL(handler.url))
        : handler.type === 'mcp_tool'
          ? dependencies.missingServer(handler.server)
          : undefined
    return problem === undefined ? [] : [sentence(event, hook, problem)]
  })
  const needs = all.flatMap(({ event, hook }) => needsOf(event, hook, dependencies))
  const places = Map.groupBy(needs, ({ hook }) => `${runsOutside(hook)} ${hook.file.path}`)
  const missing = await Promise.all([...places.values()].map((wanted) => probeNeeds(wanted, dependencies)))
  return [...remote, ...missing.flat()]
}

function needsOf(event: HookEvent, hook: Hook, { workspace, home }: SelfTestDependencies): readonly Need[] {
  if (hook.handler.type !== 'command') return []
  const { argv, env } = hookCommand(hook.handler, { project: workspace, pluginRoot: hook.file.pluginRoot })
  const words = hook.handler.args === undefined ? firstCommand(argv[2] ?? '', { ...env, HOME: home }) : argv
  const [program, script] = words.map((word) => (word.startsWith('~/') ? join(home, word.slice(2)) : word))
  if (program === undefined) return []
  const needs: Need[] = [{ hook, event, kind: 'program', path: program }]
  if (interpreters.test(basename(program)) && script !== undefined && isFile(script)) {
    needs.push({ hook, event, kind: 'script', path: script })
  }
  return needs
}

const interpreters = /^(?:python[\d.]*|node|bun|bash|dash|sh|zsh|ruby|perl|php)$/

function isFile(word: string): boolean {
  return !word.startsWith('-') && (word.includes('/') || /\.\w+$/.test(word))
}

/** Returns the words of the first command of a script, up to the first word whose value can't be determined. Empty if that command is `cd`. */
function firstCommand(script: string, env: Readonly<Record<string, string>>): readonly string[] {
  const known = Object.entries(env).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'`)
  const { commands } = analyseScript([...known, script].join('\n'))
  // The first of the analysed commands is the shell itself, and an assignment is a command without words. Both are skipped.
  const first = commands.slice(1).find(({ words }) => words.length > 0)
  const unknown = first?.words.findIndex(({ kind }) => kind !== 'static') ?? -1
  const words = first?.words.slice(0, unknown === -1 ? undefined : unknown).map(({ text }) => text) ?? []
  return words[0] === 'cd' ? [] : words
}

/**
 * Checks, inside the sandbox of the hooks, whether the files that they need exist and can be used.
 *
 * @param needs the files that are needed by hooks that run in the same sandbox
 */
async function probeNeeds(
  needs: readonly Need[],
  { workspace, sandboxFor }: SelfTestDependencies,
): Promise<readonly string[]> {
  const [first] = needs
  if (first === undefined) return []
  const argv = ['/bin/sh', '-c', probe, 'sh', ...needs.map(({ kind, path }) => `${kind}:${path}`)] as const
  let said = ''
  try {
    const sandbox = await sandboxFor(first.hook)
    const child = sandbox.spawn({ argv, cwd: workspace, stdin: 'null', timeoutMs: probeTimeoutMs })
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
    child.stderr.resume()
    await child.result
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    return [`${first.hook.file.path}: its hooks can't be run: ${error.message}`]
  }
  return said.split('\n').flatMap((line) => {
    const [at = '', problem = ''] = line.split(' ')
    const need = at === '' ? undefined : needs[Number(at)]
    if (need === undefined) return []
    return [sentence(need.event, need.hook, `'${need.path}' ${problems[problem] ?? problem}`)]
  })
}

const problems: Readonly<Record<string, string>> = {
  missing: 'does not exist, or the sandbox hides it',
  unrunnable: 'is not executable; run chmod +x on it',
  unreadable: 'is not readable',
}

function sentence(event: HookEvent, { origin, handler }: Hook, problem: string): string {
  const guards =
    kindOf(event).guards && handler.onError !== 'continue' && handler.async !== true && handler.asyncRewake !== true
  const means = guards ? 'the actions that it guards will be refused' : 'it will fail'
  return `${origin}: this ${event} hook can't work, so ${means}: ${problem}`
}
