import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { bodies, codexExec, homeWith, textsBy } from './door.ts'

const run = (args: readonly string[], config: string, files: Readonly<Record<string, string>> = {}) =>
  codexExec(['--skip-git-repo-check', '-m', 'gpt-5.5', ...args, 'go'], {
    replies: [[say('ok')]],
    home: homeWith({ '.codex/config.toml': config }),
    cwd: tempDir(files),
  })

describe.skipIf(needsBubblewrap())('what Codex’s configuration tells the model', () => {
  test('developer_instructions and service_tier are sent', async () => {
    const [body] = bodies(await run([], 'developer_instructions = "Speak Latin."\nservice_tier = "flex"'))
    expect(textsBy('developer', body)).toContain('Speak Latin.')
    expect(body).toMatchObject({ service_tier: 'flex' })
  })

  test('model_instructions_file replaces the instructions', async () => {
    const file = join(tempDir({ 'own.md': 'You are a poet.' }), 'own.md')
    expect(bodies(await run(['-c', `model_instructions_file="${file}"`], ''))[0]).toMatchObject({
      instructions: 'You are a poet.',
    })
    const { code, stderr } = await run(['-c', 'model_instructions_file="/no/such/file"'], '')
    expect(code).toBe(2)
    expect(stderr).toContain('model_instructions_file: /no/such/file')
  })

  test('project_doc_fallback_filenames and project_doc_max_bytes choose among the repository’s files', async () => {
    const files = { 'TEAM.md': 'Indent with tabs.' }
    const text = async (config: string): Promise<string> => JSON.stringify(bodies(await run([], config, files))[0])
    expect(await text('')).not.toContain('Indent with tabs.')
    expect(await text('project_doc_fallback_filenames = ["TEAM.md"]')).toContain('Indent with tabs.')
    const none = 'project_doc_fallback_filenames = ["TEAM.md"]\nproject_doc_max_bytes = 0'
    expect(await text(none)).not.toContain('Indent with tabs.')
  })

  test('$CODEX_HOME/AGENTS.md is read, wherever that folder is', async () => {
    const elsewhere = tempDir({ 'AGENTS.md': 'Count from zero.' })
    const { requests } = await codexExec(['--skip-git-repo-check', '-m', 'gpt-5.5', 'go'], {
      ...{ replies: [[say('ok')]], home: homeWith(), cwd: tempDir() },
      env: { CODEX_HOME: elsewhere },
    })
    expect(JSON.stringify(requests[0]?.body)).toContain('Count from zero.')
  })

  test('exec -- resume is a task of one word', async () => {
    const [body] = bodies(
      await codexExec(['--skip-git-repo-check', '-m', 'gpt-5.5', '--', 'resume'], {
        ...{ replies: [[say('ok')]], home: homeWith(), cwd: tempDir() },
      }),
    )
    expect(textsBy('user', body)).toContain('resume')
  })
})

describe.skipIf(needsBubblewrap())('what Codex’s rules forbid', () => {
  const rule = 'prefix_rule(pattern = ["touch"], decision = "forbidden", justification = "not here")\n'
  test.each([['--yolo'], ['--ignore-rules', '--ignore-user-config', '--yolo'], ['-s', 'workspace-write']])(
    'is forbidden with %s',
    async (...options) => {
      const cwd = tempDir()
      const { stdout, code } = await codexExec(['--skip-git-repo-check', '--json', ...options, 'go'], {
        replies: [[call('exec_command', { cmd: 'touch made' })], [say('done')]],
        home: homeWith({ '.codex/rules/default.rules': rule }),
        cwd,
      })
      expect([code, stdout.includes('"status":"declined"')]).toEqual([0, true])
      expect(stdout).toContain('not here')
    },
  )
})
