import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { encodeText } from '../../sandbox/path-bytes.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

/** A name with the byte 0xe4, which isn't UTF-8, as text and in a shell script. */
const [raw, inShell] = ['x\udce4', `"$(printf 'x\\344')"`]

/** The names that result if that byte is replaced, or taken for a character. */
const twins = ['x\ufffd', 'x\u00e4']

/** How the other names exist: as directories of their own, as symlinks to a directory, or not at all. */
const kinds = ['directories', 'symlinks', 'nothing'] as const

function write(path: string, content: string): void {
  mkdirSync(encodeText(dirname(path)), { recursive: true })
  writeFileSync(encodeText(path), content)
}

function read(path: string): string {
  return readFileSync(encodeText(path), 'utf8')
}

function isThere(path: string): boolean {
  return lstatSync(encodeText(path), { throwIfNoEntry: false }) !== undefined
}

/** Creates the other names in a directory, with the same files in them. Returns the files' paths. */
function makeTwins(directory: string, kind: (typeof kinds)[number], files: Readonly<Record<string, string>>) {
  if (kind === 'nothing') return []
  return twins.flatMap((twin) => {
    if (kind === 'symlinks') symlinkSync(`of-${twin}`, join(directory, twin))
    const into = join(directory, kind === 'symlinks' ? `of-${twin}` : twin)
    return Object.entries(files).map(([file, content]) => {
      write(join(into, file), content)
      return join(into, file)
    })
  })
}

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  const open = async (workspace: string, deniedReads?: string[]): Promise<Sandbox> => {
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots, deniedReads })
    return closeLater(await openSandbox(policy, { backend, image }))
  }

  test.each(kinds)(
    'a denied file is moved back after a command has given its directory a name that is not UTF-8 (other names: %s)',
    async (kind) => {
      const workspace = await temporaryDirectory()
      const others = makeTwins(workspace, kind, { 'sub/key': 'of a twin' })
      write(join(workspace, 'conf/sub/key'), 'SECRET')
      const sandbox = await open(workspace, [join(workspace, 'conf/sub/key')])
      const { result } = await run(sandbox, `mv conf ${inShell}`)
      expect(result.denials.map(({ subject }) => subject)).toEqual([
        `${workspace}/conf/sub/key (it was moved to ${workspace}/${raw}/sub/key, and put back)`,
      ])
      expect(read(join(workspace, 'conf/sub/key'))).toBe('SECRET')
      expect(isThere(join(workspace, raw))).toBe(false)
      for (const file of others) expect(read(file)).toBe('of a twin')
      const { stdout } = await run(sandbox, 'cat x*/sub/key conf/sub/key')
      expect(stdout).toBe(kind === 'nothing' ? '' : 'of a twin'.repeat(2))
    },
  )

  /** Runs scripts, and returns what a command can find out about the credentials after each of them. */
  const searchHome = async (scripts: readonly string[]): Promise<readonly string[]> => {
    const workspace = await temporaryDirectory()
    const files = ['.config/gh/hosts.yml', '.docker/config.json', '.kube/config', '.aws/credentials', '.netrc']
    for (const file of files) write(join(workspace, 'home', file), 'SECRET')
    vi.stubEnv('HOME', join(workspace, 'home'))
    try {
      const sandbox = await open(workspace)
      const found: string[] = []
      for (const script of scripts) {
        await run(sandbox, script)
        found.push((await run(sandbox, 'grep -ra SECRET .; true')).stdout)
      }
      return found
    } finally {
      vi.unstubAllEnvs()
    }
  }

  test('credentials stay unreadable after a command has given the home directory a name that is not UTF-8', async () => {
    expect(await searchHome([`mv home ${inShell}`])).toEqual([''])
  })

  if (backend === 'docker') {
    test('nothing runs if something in a directory whose name is not UTF-8 must be hidden or protected', async () => {
      const workspace = await temporaryDirectory()
      makeTwins(workspace, 'directories', { '.claude/settings.json': 'old', key: 'of a twin' })
      write(join(workspace, 'conf/.claude/settings.json'), 'old')
      const sandbox = await open(workspace)
      await run(sandbox, `mv conf ${inShell}`)
      expect(() => sandbox.spawn({ argv: ['true'], cwd: workspace })).toThrow(`${raw}/.claude is not UTF-8`)
      write(join(workspace, raw, 'key'), 'SECRET')
      await expect(open(workspace, [join(workspace, raw, 'key')])).rejects.toThrow('is not UTF-8')
      await expect(open(join(workspace, raw))).rejects.toThrow(
        'workspace: must not contain a NUL or an unpaired surrogate',
      )
    })
    return
  }

  test.each(kinds)(
    'settings in a directory whose name is not UTF-8 can’t be changed (other names: %s)',
    async (kind) => {
      const workspace = await temporaryDirectory()
      const others = makeTwins(workspace, kind, { '.claude/settings.json': 'old', '.mcp.json': 'old' })
      const own = ['.claude/settings.json', '.mcp.json'].map((file) => join(workspace, raw, file))
      for (const file of own) write(file, 'old')
      const sandbox = await open(workspace)
      await run(
        sandbox,
        'for d in x*; do echo EVIL > $d/.claude/settings.json; rm -f $d/.mcp.json; echo EVIL > $d/.mcp.json; done',
      )
      await run(sandbox, 'for d in x*; do mv $d/.claude $d/c; rm -rf $d/.claude; mkdir $d/.claude; done')
      for (const file of [...own, ...others]) expect(read(file)).toBe('old')
    },
  )

  test.each(kinds)(
    'settings can’t be changed after a command has given their directory a name that is not UTF-8 (other names: %s)',
    async (kind) => {
      const workspace = await temporaryDirectory()
      const others = makeTwins(workspace, kind, { '.claude/settings.json': 'old' })
      write(join(workspace, 'conf/.claude/settings.json'), 'old')
      const sandbox = await open(workspace)
      await run(sandbox, `mv conf ${inShell}`)
      await run(sandbox, 'for d in x*; do echo EVIL > $d/.claude/settings.json; done')
      await run(sandbox, `mv ${inShell} conf`)
      for (const file of [join(workspace, 'conf/.claude/settings.json'), ...others]) expect(read(file)).toBe('old')
    },
  )

  test.each(kinds)(
    'denied files in a directory whose name is not UTF-8 can’t be read (other names: %s)',
    async (kind) => {
      const workspace = await temporaryDirectory()
      makeTwins(workspace, kind, { 'sub/key': 'of a twin', '.env': 'SECRET' })
      for (const file of ['sub/key', 'deep/.env', '.env', `${raw}/.env`]) write(join(workspace, raw, file), 'SECRET')
      const sandbox = await open(workspace, [join(workspace, raw, 'sub'), '**/.env'])
      const { stdout } = await run(sandbox, 'grep -ra . . ; cat x*/sub/key x*/.env x*/*/.env')
      expect(stdout).not.toContain('SECRET')
      expect(stdout.includes('of a twin')).toBe(kind !== 'nothing')
    },
  )

  test.each(kinds)(
    'a denied file that can’t be moved back stays unreadable under a name that is not UTF-8 (other names: %s)',
    async (kind) => {
      const workspace = await temporaryDirectory()
      const others = makeTwins(workspace, kind, { key: 'of a twin' })
      write(join(workspace, 'conf/key'), 'SECRET')
      const sandbox = await open(workspace, [join(workspace, 'conf/key')])
      await run(sandbox, `mv conf ${inShell}; mkdir conf; echo mine > conf/key`)
      const { stdout } = await run(sandbox, 'cat x*/key')
      expect(stdout).toBe(kind === 'nothing' ? '' : 'of a twin'.repeat(2))
      expect(read(join(workspace, raw, 'key'))).toBe('SECRET')
      for (const file of others) expect(read(file)).toBe('of a twin')
    },
  )

  test('credentials in a home directory that can’t be moved back stay unreadable', async () => {
    expect(await searchHome([`mv home ${inShell}; mkdir home; touch home/mine`])).toEqual([''])
  })
})
