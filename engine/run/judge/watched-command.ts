import { readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makePassingDirectory, readHostFile } from '../../../sandbox/index.ts'
import type { NamedReport } from '../../core/verification-settings.ts'
import { readReport } from './read-report.ts'
import { nodeReporter, pytestPlugin, pytestReporter } from './reporters.ts'
import { TextResults } from './read-text-results.ts'
import { runnerOption } from './runner-option.ts'
import { groupTests, type SeenTest, type TestResults } from './test-results.ts'

/** The maximum size of a report in bytes. */
const largestReport = 256 * 1024 * 1024

/** What decides how the results of a command's tests are obtained. */
export type WatchOptions = {
  readonly command: string
  /** Everything that is known of what the command runs, as text: itself and the scripts that it reaches. */
  readonly reached: string
  /** The scripts of the manifest in the directory in which the command runs. */
  readonly scripts: Readonly<Record<string, string>>
  readonly report: NamedReport | undefined
  /** Whether runners are asked for a report. If not, only what the command prints is read. */
  readonly asks: boolean
}

/** One run of a command whose tests are watched. It has a folder in which the runners write their reports, and which must be removed. */
export class WatchedCommand {
  readonly folder: string
  readonly #text = new TextResults()
  readonly #options: WatchOptions
  readonly #option: ReturnType<typeof runnerOption>

  constructor(options: WatchOptions) {
    this.#options = options
    // If this process is killed, the next sandbox that is opened removes the folder.
    this.folder = makePassingDirectory(realpathSync(tmpdir()))
    this.#option = options.asks ? runnerOption(options.command, options.scripts, this.folder) : undefined
    writeFileSync(join(this.folder, 'reporter.mjs'), nodeReporter)
    writeFileSync(join(this.folder, `${pytestPlugin}.py`), pytestReporter)
  }

  /**
   * The argument vector that runs an approved command so that runners write reports. The approved command is the end of it, followed at most by the
   * option of a runner.
   */
  argv(approved: readonly [string, ...string[]]): readonly [string, ...string[]] {
    if (!this.#options.asks) return approved
    if (this.#option !== undefined)
      return [...approved.slice(0, -1), `${approved.at(-1)} ${this.#option.words}`] as never
    const [shell] = approved
    return [shell, '-c', setVariables, shell, this.folder, this.#nodeOptions(), this.#pytestOptions(), ...approved]
  }

  /** Takes a piece of what the command prints. */
  push(stream: unknown, bytes: Buffer): void {
    this.#text.push(stream, bytes)
  }

  /**
   * Reads the results once the command has ended.
   *
   * @param readInTree reads a file by its path relative to the directory in which the command ran
   */
  results(readInTree: (path: string) => Buffer | undefined): TestResults {
    const { report, asks } = this.#options
    if (report !== undefined) return groupTests(readReport(report.format, readInTree(report.path)?.toString() ?? ''))
    const read = (name: string): string =>
      readHostFile(join(this.folder, name), { maxBytes: largestReport })?.toString() ?? ''
    if (this.#option !== undefined) return groupTests(readReport('jest-json', read(this.#option.file)))
    const names = asks
      ? readdirSync(this.folder)
          .filter((name) => name.endsWith('.jsonl'))
          .toSorted()
      : []
    const seen: SeenTest[] = names.flatMap((name) => [...readReport('lines', read(name))])
    const junit = asks ? readReport('junit', read(pytestJunit)).map(withoutParameters) : []
    return groupTests([...seen, ...junit, ...this.#text.seen])
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** If the command sets the variable by which Python finds our plugin, pytest's own report has to do, in which several runs of pytest replace each other. */
  #pytestOptions(): string {
    return /\bPYTHONPATH=/.test(this.#options.reached)
      ? `--continue-on-collection-errors -o junit_family=xunit1 --junitxml=${join(this.folder, pytestJunit)}`
      : `-p ${pytestPlugin}`
  }

  /** Node wants a destination for each reporter, so the options depend on those that the command gives itself. */
  #nodeOptions(): string {
    const ours = `--test-reporter=${pathToFileURL(join(this.folder, 'reporter.mjs')).href}`
    const out = '--test-reporter-destination=stdout'
    const { reached } = this.#options
    if (reached.includes('--test-reporter-destination')) return `${ours} ${out}`
    return reached.includes('--test-reporter') ? `${ours} ${out} ${out}` : `--test-reporter=spec ${out} ${ours} ${out}`
  }
}

const pytestJunit = 'pytest.xml'

/** Our plugin doesn't count the parameters of a case as a part of the test's name either. */
function withoutParameters(test: SeenTest): SeenTest {
  return { ...test, name: test.name.split('[')[0] ?? test.name }
}

/** Sets the variables that runners read, adds to values that they have, and becomes the command. */
const setVariables = `
export PYTEST_ADDOPTS="$3 \${PYTEST_ADDOPTS-}"
export PYTHONPATH="$1\${PYTHONPATH:+:$PYTHONPATH}"
export NODE_OPTIONS="$2 \${NODE_OPTIONS-}"
export GOFLAGS="-v -count=1 \${GOFLAGS-}"
shift 3
exec "$@"`
