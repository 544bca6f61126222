import { expectation } from './record.ts'
import type { FoundDifference } from './replay-differences.ts'

/**
 * Updates the text of a recording: each expected result that differs from the actual one is replaced by the actual one. All other lines stay the
 * same, byte for byte. If a call has no result, its expected result stays.
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
