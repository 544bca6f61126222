import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'

/** Runs the program with a model that calls `exec_command` with each of these inputs, and returns the results that the model got. */
async function resultsOf(calls: readonly object[], config: readonly string[]): Promise<readonly string[]> {
  const replies = [calls.map((input) => call('exec_command', input)), [say('ok')]]
  const { requests } = await exec(replies, [...config.flatMap((one) => ['-c', one]), 'x'], { cwd: repository() })
  const { input } = requests[1]?.body as { readonly input: readonly { readonly output?: string }[] }
  return input.flatMap(({ output }) => (output === undefined ? [] : [output]))
}

describe.skipIf(needsBubblewrap())('how much of an output the model is shown', () => {
  test('tool_output_token_limit limits every call, even one that requests more', async () => {
    const [usual = '', more = '', less = ''] = await resultsOf(
      [
        { cmd: 'seq 2000' },
        { cmd: 'seq 2000', max_output_tokens: 50_000 },
        { cmd: 'seq 2000', max_output_tokens: 100 },
      ],
      ['tool_output_token_limit=500'],
    )
    for (const shown of [usual, more]) {
      expect(shown).toMatch(/\n1\n2\n[^]*lines left out after line \d+; the whole output is in [^]*\n1999\n2000$/)
      expect(shown.length).toBeGreaterThan(1500)
      expect(shown.length).toBeLessThan(2500)
    }
    expect(less.length).toBeLessThan(900)
  })

  test('tool_output_line_limit also shortens an output with few tokens', async () => {
    const [shown = ''] = await resultsOf([{ cmd: 'seq 100' }], ['tool_output_line_limit=10'])
    expect(shown).toMatch(/\n1\n2\n3\n4\n5\n\n\[\.\.\. .* 90 lines left out after line 5; .*\]\n96\n97\n98\n99\n100$/)
  })
})
