import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
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

  test.skipIf(needsBubblewrap())(
    'that comes while a program blocks before it restarts itself with an overlay ends it by its exit code',
    async () => {
      const preload = `const processes = process.getBuiltinModule('node:child_process')
        const { spawnSync } = processes
        processes.spawnSync = (...given) => {
          const result = spawnSync(...given)
          if (process.env.PORTCULLIS_STARTED_FOR === undefined) process.kill(process.pid, '${signal}')
          return result
        }
        process.getBuiltinModule('node:module').syncBuiltinESMExports()`
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` }
      const words = ['sandbox', '--view', 'overlay', '--', 'sleep', '5']
      expect(await agent(words, { cwd: tempDir(), home: tempDir(), env })).toMatchObject({ code, signal: null })
    },
  )
})
