import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe.each([['SIGINT', 130] as const, ['SIGTERM', 143] as const, ['SIGHUP', 143] as const])('%s', (signal, code) => {
  test.each([[['doctor']], [['sessions', 'list']], [['sandbox', '--', 'sleep', '60']]])(
    'that comes while a program is still being loaded ends agent %j by its exit code',
    async (words) => {
      // This class sends the signal when the program compiles the rest of its code. By then, the program has executed its first line.
      const preload = `const vm = process.getBuiltinModule('node:vm')
        vm.Script = class extends vm.Script {
          constructor(...given) {
            super(...given)
            process.kill(process.pid, '${signal}')
          }
        }`
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` }
      const ended = await agent(words, { cwd: tempDir(), home: tempDir(), env })
      expect({ ...ended, stdout: '' }).toEqual({ code, signal: null, stdout: '', stderr: '' })
    },
  )
})
