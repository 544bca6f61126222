import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap, whyNotRoot } from '../../support/needs.ts'
import { exec } from '../../support/workspace.ts'
import { fingerprint } from './fingerprint.ts'
import { cmd, onOverlay, whyNoOverlay } from './overlay-runs.ts'

const nobody = 65534
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

function whyNotAsNobody(): string | undefined {
  const [command = '', ...words] = [...asNobody, process.execPath, program, '--version']
  return spawnSync(command, words).status === 0 ? undefined : 'another user can not start the program from here'
}

/** A tree that belongs to an ordinary user, except for some entries that belong to root. */
function treeOfNobody(): { readonly cwd: string; readonly home: string } {
  const base = mkdtempSync('/var/tmp/portcullis-foreign-')
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  chmodSync(base, 0o755)
  const [cwd, home] = [join(base, 'tree'), join(base, 'home')]
  for (const directory of [cwd, home]) {
    mkdirSync(directory)
    chownSync(directory, nobody, nobody)
  }
  mkdirSync(join(cwd, 'of-root'))
  for (const name of ['of-root/file.txt', 'file-of-root.txt', 'own.txt']) writeFileSync(join(cwd, name), 'old\n')
  chownSync(join(cwd, 'own.txt'), nobody, nobody)
  const [command = '', ...words] = [...asNobody, 'git', 'init', '-q', cwd]
  execFileSync(command, words)
  return { cwd, home }
}

async function run(command: string) {
  const { cwd, home } = treeOfNobody()
  const before = fingerprint(cwd)
  const replies = [[call('exec_command', { cmd: command })], [say('done')]]
  const args = ['--json', '--view=copy', 'x']
  const { code, events, stderr } = await exec((index) => replies[index] ?? [say('done')], args, {
    cwd,
    home,
    startedBy: asNobody,
  })
  const last = events.at(-1)
  return { cwd, code, stderr, before, message: last?.type === 'turn.failed' ? last.error.message : undefined }
}

const testAsRoot = testUnless(whyNoBubblewrap() ?? whyNotRoot('becomes another user') ?? whyNotAsNobody())

testAsRoot(
  'a run lands nothing if one of its files belongs to another user, who lets nobody else write it',
  async () => {
    const { cwd, code, before, message } = await run('echo new > own.txt; echo new > file-of-root.txt')
    expect(message).toBe(
      `Nothing was landed: ${cwd}/file-of-root.txt: it belongs to another user, and you may not write to it. ` +
        (/The tree is unchanged, .*/.exec(message ?? '')?.[0] ?? ''),
    )
    expect(code).toBe(1)
    expect(fingerprint(cwd)).toEqual(before)
  },
)

testAsRoot('a run lands nothing if one of its files would go into another user’s directory', async () => {
  const { cwd, code, before, message } = await run('echo new > own.txt; echo new > of-root/new.txt')
  expect(message).toContain(`${cwd}/of-root/new.txt`)
  expect(message).toContain('permission denied (EACCES)')
  expect(message).toContain('The tree is unchanged')
  expect(code).toBe(1)
  const without = (all: Readonly<Record<string, string>>) => Object.entries(all).filter(([path]) => path !== cwd)
  expect(without(fingerprint(cwd))).toEqual(without(before))
})

testAsRoot('files of other users that a run does not change don’t matter', async () => {
  const { cwd, code, stderr } = await run('echo new > own.txt')
  expect(code, stderr).toBe(0)
  expect(readFileSync(join(cwd, 'own.txt'), 'utf8')).toBe('new\n')
})

testUnless(whyNoBubblewrap() ?? whyNotRoot('becomes another user') ?? whyNotAsNobody() ?? whyNoOverlay())(
  'a model is told why it can not write a file of another user on an overlay, though everybody may, and what to do',
  async () => {
    const { cwd, home } = treeOfNobody()
    chmodSync(join(cwd, 'file-of-root.txt'), 0o666)
    const replaced =
      'cp file-of-root.txt c && rm file-of-root.txt && mv c file-of-root.txt && echo new >> file-of-root.txt'
    const ended = await onOverlay(cwd, [cmd('echo new >> file-of-root.txt'), cmd(replaced)], {
      home,
      startedBy: asNobody,
    })
    const told = JSON.stringify(ended.requests[1])
    expect(told).toContain('Value too large for defined data type')
    expect(told).toContain(
      "[transaction: overlay] Files of other owners can't be written in the run's view (EOVERFLOW)",
    )
    expect(ended.code, ended.stderr).toBe(0)
    expect(readFileSync(join(cwd, 'file-of-root.txt'), 'utf8')).toBe('old\nnew\n')
  },
)
