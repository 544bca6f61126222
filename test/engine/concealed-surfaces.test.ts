import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { beforeAll, expect, test as plain } from 'vitest'
import { createGuardian, nobody, withoutAuditLog } from '../../policies/index.ts'
import {
  accessDenial,
  concealedOf,
  credentialPlaces,
  homeDirectory,
  parsePolicy,
  protectedTable,
  protectingPlace,
} from '../../sandbox/index.ts'
import { applyPatch } from '../../engine/tools/apply-patch-tool.ts'
import { readFile as readTool } from '../../engine/tools/read-file.ts'
import { writeFile as writeTool } from '../../engine/tools/write-file.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from '../sandbox/helpers.ts'
import { openPath } from '../support/call-path.ts'

const rows = protectedTable().filter(({ what }) => what === 'credentials')
const atHome = rows.filter(({ at }) => at.startsWith('~/')).map(({ at }) => at.slice(2))

/** Creates a Guardian that knows the concealed places, like the Guardian of a run. */
function guardianFor(workspace: string) {
  const policy = parsePolicy({ mode: 'workspace-write', workspace })
  return createGuardian({
    approvalMode: 'on-request',
    reviewer: nobody,
    audit: withoutAuditLog(),
    conceals: (paths) => concealedOf(policy, paths),
  })
}

plain('the Guardian lets no tool, command or grant read a place of the credentials table', async () => {
  const workspace = await temporaryDirectory()
  const { assess } = guardianFor(workspace)
  const exec = (argv: readonly [string, ...string[]]) =>
    assess({ type: 'exec', argv, cwd: workspace, sandbox: 'workspace-write' }).decision
  const through: string[] = []
  for (const { at } of rows) {
    const path = at.replace(/^~/, homeDirectory())
    if (assess({ type: 'read', path }).decision === 'allow') through.push(`read ${path}`)
    const spellings = [
      ['cat', path],
      ['cat', `${path}/below`],
      ['bash', '-c', `cd '${dirname(path)}' && head '${path.slice(dirname(path).length + 1)}'`],
      ...(at.startsWith('~/') && !at.includes(' ')
        ? [
            ['bash', '-c', `grep x ${at}/*`],
            ['bash', '-c', `cat "$HOME${at.slice(1)}"`],
          ]
        : []),
    ] as const
    for (const [program = '', ...rest] of spellings) {
      if (exec([program, ...rest]) === 'allow') through.push([program, ...rest].join(' '))
    }
  }
  expect(through).toEqual([])
})

plain('it knows places that a variable moves, and places that are granted by name', async () => {
  const workspace = await temporaryDirectory()
  const policy = parsePolicy({
    mode: 'danger-full-access',
    workspace,
    deniedReads: [...credentialPlaces(), '/srv/moved'],
    readableRoots: ['/srv/moved/shown'],
  })
  expect(
    concealedOf(policy, ['/srv/moved/auth.json', '/srv/moved/shown/x', '/srv/other', join(workspace, 'x')]),
  ).toEqual([{ path: '/srv/moved/auth.json', place: '/srv/moved' }])
})

plain('files of projects with the same names can be read', async () => {
  const workspace = await temporaryDirectory()
  const { assess } = guardianFor(workspace)
  for (const name of [
    '.claude/settings.json',
    '.cursor/rules/x.mdc',
    'src/a.ts',
    '.roo/rules.md',
    '.serverless/x.json',
  ]) {
    const path = join(workspace, name)
    expect(assess({ type: 'read', path }).decision, name).toBe('allow')
    expect(
      assess({ type: 'exec', argv: ['cat', name], cwd: workspace, sandbox: 'workspace-write' }).decision,
      name,
    ).toBe('allow')
  }
})

const secret = 'the-credential-of-somebody'
let home = ''

beforeAll(async () => {
  const before = process.env['HOME']
  // The home is not in /tmp, which commands don't see anyway.
  home = await mkdtemp('/var/tmp/sandbox-home-')
  process.env['HOME'] = home
  for (const name of atHome) {
    mkdirSync(join(home, name), { recursive: true })
    writeFileSync(join(home, name, 'secret'), secret)
  }
  return async () => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
    await rm(home, { recursive: true, force: true })
  }
})

test('no command, file tool or patch reads or writes such a place, even if everything is approved', async () => {
  // A home as the workspace is the hardest case, because commands are granted access to all of it.
  const workspace = home
  const readableRoots = [dirname(process.execPath)]
  const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots })
  const { stdout } = await run(
    sandbox,
    atHome.map((name) => `cat '${name}/secret'; echo evil > '${name}/secret'`).join('\n'),
  )
  expect(stdout).not.toContain(secret)
  const { call } = await openPath({ tools: [applyPatch, readTool, writeTool], sandbox, approvalMode: 'bypass' })
  const through: string[] = []
  for (const name of atHome) {
    const path = join(home, name, 'secret')
    if (accessDenial(sandbox.policy, path, 'read') === undefined) through.push(`reading ${name}`)
    if (protectingPlace(sandbox.policy, path, [workspace]) === undefined) through.push(`writing ${name}`)
  }
  // All tools use the same check, so it is enough to try them on some of the names.
  for (const name of atHome.filter((_, index) => index % 12 === 0)) {
    const path = `${name}/secret`
    if (JSON.stringify(await call('read_file', { path })).includes(secret)) through.push(`read ${name}`)
    if ((await call('write_file', { path: `${name}/new`, content: 'evil' })).ok) through.push(`write ${name}`)
    const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${secret}\n+evil\n*** End Patch`
    if ((await call('apply_patch', { input: patch })).ok) through.push(`patch ${name}`)
  }
  expect(through).toEqual([])
})
