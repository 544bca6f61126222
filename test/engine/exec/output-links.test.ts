import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

describe.skipIf(needsBubblewrap())(
  'no command writes a file that the user named through a link that a run left there',
  () => {
    test('neither at the file nor at its folder', async () => {
      const [home, cwd, outside] = [tempDir(), repository({ 'a.txt': 'a\n' }), tempDir({ bashrc: 'mine\n' })]
      const { privateKey } = generateKeyPairSync('ed25519')
      writeFileSync(join(home, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
      execFileSync('git', [
        '-C',
        cwd,
        '-c',
        'user.name=a',
        '-c',
        'user.email=b@c',
        'commit',
        '-qm',
        'a',
        '--allow-empty',
      ])
      const links = `for f in fix.jsonl r.html r.md p.patch ev.json last.md; do ln -s ${outside}/bashrc $f; done; ln -s ${outside} out`
      const ran = await exec([[call('exec_command', { cmd: links })], [say('done')]], ['x'], {
        cwd,
        home,
      })
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('all changes are in the workspace')])
      expect(readlinkSync(join(cwd, 'fix.jsonl'))).toBe(join(outside, 'bashrc'))
      const [id = ''] = (await agent(['sessions', 'list'], { cwd, home })).stdout.split(' ')
      const again = (args: readonly string[]): Promise<Ended> => exec([[say('done')]], [...args, 'x'], { cwd, home })
      const command = (args: readonly string[]): Promise<Ended> => agent(args, { cwd, home })
      const writing: Readonly<Record<string, (file: (name: string) => string) => Promise<Ended>>> = {
        export: (file) => command(['sessions', 'export', id, '-o', file('fix.jsonl')]),
        report: (file) => command(['report', id, '-o', file('r.html')]),
        Markdown: (file) => command(['report', id, '--format', 'md', '-o', file('r.md')]),
        patch: (file) => command(['changes', id, '--patch', file('p.patch')]),
        evidence: (file) => command(['evidence', id, '--key', join(home, 'key.pem'), '-o', file('ev.json')]),
        message: (file) => again(['-o', file('last.md')]),
        'report of a run': (file) => again(['--report', file('r.html')]),
        recording: (file) => again(['--record', file('fix.jsonl')]),
      }
      for (const [what, write] of Object.entries(writing)) {
        for (const file of [
          (name: string) => name,
          (name: string) => join(cwd, name),
          (name: string) => `out/new-${name}`,
        ]) {
          const { code, stderr } = await write(file)
          expect([what, code, stderr]).toEqual([
            what,
            2,
            expect.stringMatching(/^agent: .*can't (?:be written|record).*symbolic link/im),
          ])
        }
      }
      expect(readFileSync(join(outside, 'bashrc'), 'utf8')).toBe('mine\n')
      rmSync(join(cwd, 'fix.jsonl'))
      expect((await command(['sessions', 'export', id, '-o', 'fix.jsonl'])).code).toBe(0)
      symlinkSync('fix.jsonl', join(cwd, 'mine.jsonl'))
      expect((await command(['replay', 'mine.jsonl', '--update'])).stderr).toContain('symbolic link')
    })
  },
)
