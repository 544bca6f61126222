import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { testInBubblewrap, testInDocker } from '../../sandbox/helpers.ts'
import { canariesIn, findCanaries, plantCanaries } from './canaries.ts'
import { makeScene, programFor, type Scene } from './scene.ts'
import { attackBy, surfaces, writeScript, type ToolCall } from './surfaces.ts'

/** A script that searches everything that can be read on a host: files, processes, the environment, and git's output. */
const search = ({ base }: Scene): string => `
  {
    env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'
    git config --list --show-origin; git -C library config --list; git -C nested/repository config --list
    git remote -v; cat .git/config .git/FETCH_HEAD; git -C library remote -v
    grep -rsa 'CANAR[Y]' ${base} /tmp /run /dev/shm /etc /github
  } 2>/dev/null | ${findCanaries}`

/** Everyday git commands, which must still work when the canaries are in place. Only the surface `shell` runs them, before it searches for canaries. */
const everydayGit = ({ remote }: Scene): string => `
  if [ "$1" = shell ]; then (
    set -e
    git status --short >/dev/null; echo more >> file; git diff --quiet && exit 1; git commit -qam second; git log --oneline | grep -q second
    git switch -qc topic HEAD~1; echo topic > topic; git add topic; git commit -qm topic; git rebase -q main
    echo aside >> file; git stash -q; git stash pop -q; git checkout -q file
    git worktree add -q ../tree 2>/dev/null || git worktree add -q tree; git worktree list | grep -q tree
    git -c protocol.file.allow=always submodule --quiet update --init
    git bisect start -q HEAD HEAD~1 >/dev/null; git bisect reset >/dev/null 2>&1
    git fetch -q ${remote}; git fetch -q origin
    echo 'git works'
  ) fi`

/** Calls to all tools that read files. The patch doesn't match the file, so its error message shows the file's actual lines. */
const lookBy = (path: string): readonly ToolCall[] => [
  ['read_file', { path }],
  ['grep', { path, pattern: 'example|token|CANARY' }],
  [
    'apply_patch',
    { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-machine example.org login\n+x\n*** End Patch\n` },
  ],
  ['edit_file', { path, old_string: 'machine example.org login you', new_string: 'x' }],
]

describe.each([
  ['bubblewrap', testInBubblewrap],
  ['docker', testInDocker],
] as const)('in %s', (backend, test) => {
  test('no part of a run sees a canary, and everyday git works next to them', async () => {
    const scene = makeScene()
    onTestFinished(() => scene.close())
    const planted = plantCanaries(scene)
    onTestFinished(() => planted.close())
    const program = programFor('root')
    const calls = planted.paths.flatMap(lookBy)
    writeScript(scene, `${everydayGit(scene)}\n${search(scene)}`)
    const ended = await attackBy(scene, {
      user: 'root',
      backend,
      program,
      acting: surfaces,
      env: planted.env,
      calls,
      readable: [scene.remote],
    })
    expect(ended.code, ended.stderr).toBe(0)
    expect(planted.names.length).toBeGreaterThan(40)
    for (const surface of surfaces) {
      const found = readFileSync(join(scene.workspace, 'out', surface), 'utf8')
      expect(found, surface).toContain('seen-control')
      expect(canariesIn(found), surface).toEqual([])
    }
    expect(canariesIn(ended.said)).toEqual([])
    expect(readFileSync(join(scene.workspace, 'out/shell'), 'utf8')).toContain('git works')
  })
})
