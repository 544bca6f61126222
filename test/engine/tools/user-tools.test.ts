import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { needsBubblewrap } from '../../support/needs.ts'

const built = (name: string): string => new URL(`../../../dist/${name}/index.js`, import.meta.url).href
const library = built('engine')
const zod = import.meta.resolve('zod')

const shout = `
import * as z from ${JSON.stringify(zod)}
import { defineTool } from ${JSON.stringify(library)}
export default defineTool({
  name: 'shout',
  description: 'Says it loudly.',
  input: z.object({ text: z.string() }),
  readOnly: () => true,
  run: async ({ text }) => ({ ok: true, output: text.toUpperCase() }),
})`

/**
 * The source of a tool that catches errors thrown by the program that runs it. Their classes come from a different copy of the package than the
 * classes that the tool imports.
 */
const meets = `
import * as z from ${JSON.stringify(zod)}
import { defineTool, FileError, UserError } from ${JSON.stringify(library)}
import { SandboxError } from ${JSON.stringify(built('sandbox'))}
const thrown = async (act) => {
  try {
    await act()
  } catch (error) {
    const kinds = Object.entries({ SandboxError, FileError, UserError })
    return kinds.flatMap(([name, kind]) => (error instanceof kind ? [name] : [])).join()
  }
}
export default defineTool({
  name: 'meet',
  description: 'Meets errors.',
  input: z.object({}),
  run: async (_, { sandbox, workspace, state, signal }) => {
    const program = await thrown(() => sandbox.spawn({ argv: ['no-such-program'], cwd: workspace }))
    const file = await thrown(() => state.files.read(workspace + '/no-such-file', 1, signal))
    return { ok: true, output: 'met ' + program + ' and ' + file }
  },
})`

function homeWith(file: string, text: string): { readonly home: string; readonly folder: string } {
  const folder = tempDir({ [file]: text })
  return { folder, home: tempDir({ '.config/portcullis/config.toml': `tool_folders = [${JSON.stringify(folder)}]\n` }) }
}

describe.skipIf(needsBubblewrap())('tools that a user wrote', () => {
  test('are offered and called like any other', async () => {
    const { home } = homeWith('shout.mjs', shout)
    const replies = [[call('shout', { text: 'hey' })], [call('shout', { text: 7 })], [say('done')]]
    const { code, requests, stderr } = await exec(replies, ['go'], { cwd: repository(), home })
    expect(code, stderr).toBe(0)
    expect(JSON.stringify(requests[0]?.body)).toContain('Says it loudly.')
    expect(JSON.stringify(requests[1]?.body)).toContain('HEY')
    expect(JSON.stringify(requests[2]?.body)).toContain('the arguments are not valid')
  })

  test('may be in TypeScript, but the compiled file takes precedence', async () => {
    const named = (name: string): string => shout.replace("'shout'", `'${name}'`)
    const folder = tempDir({
      'typed.ts': named('typed').replace('({ text }) =>', '({ text }: { text: string }) =>'),
      'twice.ts': 'throw new Error("loaded")',
      'twice.js': named('twice'),
      'twice.d.ts': 'export {}',
      'package.json': '{ "type": "module" }',
    })
    const home = tempDir({ '.config/portcullis/config.toml': `tool_folders = [${JSON.stringify(folder)}]\n` })
    const replies = [[call('typed', { text: 'hey' })], [call('twice', { text: 'ho' })], [say('done')]]
    const { code, requests, stderr } = await exec(replies, ['go'], { cwd: repository(), home })
    expect(code, stderr).toBe(0)
    expect(JSON.stringify(requests[1]?.body)).toContain('HEY')
    expect(JSON.stringify(requests[2]?.body)).toContain('HO')
  })

  test('recognize errors by the classes that they import', async () => {
    const { home } = homeWith('meet.mjs', meets)
    const { requests } = await exec([[call('meet', {})], [say('done')]], ['go'], { cwd: repository(), home })
    expect(JSON.stringify(requests[1]?.body)).toContain('met SandboxError and FileError')
  })

  for (const [name, text, says] of [
    ['that is no module', 'export default {', "can't be loaded"],
    ['that exports something else', 'export default 7', 'its default export is not a tool'],
  ] as const) {
    test(`a file ${name} ends the run before it starts`, async () => {
      const { home, folder } = homeWith('broken.mjs', text)
      const { code, stderr, requests } = await exec([[say('x')]], ['go'], { cwd: repository(), home })
      expect([code, requests.length]).toEqual([2, 0])
      expect(stderr).toContain(join(folder, 'broken.mjs'))
      expect(stderr).toContain(says)
    })
  }

  test('a repository can’t add any, not even a trusted one', async () => {
    const folder = tempDir({ 'evil.mjs': 'process.exit(77)' })
    const cwd = repository({ '.portcullis/config.toml': `tool_folders = [${JSON.stringify(folder)}]\n` })
    const { code, stderr } = await exec([[say('x')]], ['--trust', 'go'], { cwd })
    expect(code).toBe(0)
    expect(stderr).toContain('tool_folders')
  })
})
