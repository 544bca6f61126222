import { expectation } from './record.ts'
import type { FoundDifference } from './replay-differences.ts'

/**
 * Updates a recording's text: if an actual result differs from the expected one, it replaces the expectation. All other lines stay the same, byte for
 * byte. If a call has no result, its expectation stays.
 *
 * @param cwd the directory that the run worked in, which becomes a placeholder like everything else that varies
 */
export function updateRecording(text: string, differences: readonly FoundDifference[], cwd: string): string {
  return text
    .split('\n')
    .map((line, at) => {
      const own = differences.filter((one) => one.line === at + 1 && one.result !== undefined)
      if (own.length === 0) return line
      const end = line.endsWith('\r') ? '\r' : ''
      // The line was checked when the recording was opened, so it need not be checked again.
      const response = JSON.parse(line) as { readonly expect: readonly unknown[] }
      const expect = response.expect.map((expected, place) => {
        const { result } = own.find((one) => one.at === place) ?? {}
        return result === undefined ? expected : expectation({ id: result.callId }, [result], cwd)
      })
      return JSON.stringify({ ...response, expect }) + end
    })
    .join('\n')
}
