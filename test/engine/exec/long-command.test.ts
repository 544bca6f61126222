import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}: it’s "$odd"`).join('\n')
const heredoc = `cat > big.txt <<'END'\n${lines}\nEND\nwc -l < big.txt`

test.skipIf(needsBubblewrap())(
  'a command that is longer than an argument runs, once, as the model wrote it',
  async () => {
    const cwd = repository()
    const { code, events } = await exec([[call('exec_command', { cmd: heredoc })], [say('done')]], ['--json', 'x'], {
      cwd,
    })
    const ran = events.filter(({ type }) => type === 'item.completed').map((event) => 'item' in event && event.item)
    expect({ code, ran }).toMatchObject({
      code: 0,
      ran: [{ type: 'command_execution', exit_code: 0, aggregated_output: '10000\n' }, { type: 'agent_message' }],
    })
    expect(readFileSync(join(cwd, 'big.txt'), 'utf8')).toBe(`${lines}\n`)
  },
)
