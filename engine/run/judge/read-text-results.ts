import type { SeenTest } from './test-results.ts'

/** The maximum length of a line in characters. What a test prints without an end of line isn't the report of a runner. */
const longestLine = 64 * 1024

/** Reads the results of tests from what a command prints, for runners that report them only there: `go test -v` and `cargo test`. */
export class TextResults {
  readonly #seen: SeenTest[] = []
  /** The results of the package whose tests are running. Go prints the name of a package after its tests. */
  #package: Omit<SeenTest, 'id'>[] = []
  readonly #rest = new Map<unknown, string>()

  /** @param stream identifies the stream, because two streams don't share lines */
  push(stream: unknown, bytes: Buffer): void {
    const lines = `${this.#rest.get(stream) ?? ''}${bytes.toString('latin1')}`.split('\n')
    this.#rest.set(stream, (lines.pop() ?? '').slice(-longestLine))
    for (const line of lines) this.#line(Buffer.from(line, 'latin1').toString().trimEnd())
  }

  /** All results so far. */
  get seen(): readonly SeenTest[] {
    return [...this.#seen, ...this.#package.map((test) => ({ ...test, id: test.name }))]
  }

  #line(line: string): void {
    const go = /--- (PASS|FAIL|SKIP): (\S{1,1000}) \(\d/.exec(line)
    if (go !== null) {
      const outcome = go[1] === 'PASS' ? 'passed' : go[1] === 'FAIL' ? 'failed' : 'skipped'
      this.#package.push({ name: go[2] ?? '', file: undefined, outcome })
      return
    }
    const [state, name] = line.split('\t')
    if (name !== undefined && (state?.trimEnd() === 'ok' || state === 'FAIL')) {
      const key = name.split(' ')[0] ?? ''
      for (const test of this.#package) this.#seen.push({ ...test, id: `${key} > ${test.name}` })
      this.#package = []
      return
    }
    this.#cargo(line)
  }

  #cargo(line: string): void {
    if (!line.startsWith('test ')) return
    const end = line.lastIndexOf(' ... ')
    if (end < 0) return
    const outcome = cargoOutcomes[line.slice(end + 5).split(/[ ,]/)[0] ?? '']
    // A documentation test is named after its line, which an edit of the source above moves.
    const name = line.slice(5, end).replace(/ \(line \d{1,9}\)/, '')
    if (outcome !== undefined) this.#seen.push({ id: name, name, file: undefined, outcome })
  }
}

const cargoOutcomes: Readonly<Record<string, SeenTest['outcome']>> = {
  ok: 'passed',
  FAILED: 'failed',
  ignored: 'skipped',
}
