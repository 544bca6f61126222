import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A generated text, its kind, and the shell that runs it. */
export type Run = { readonly shell: 'bash' | 'dash'; readonly text: string; readonly kind: string }

/** The outcome of a batch: the texts that changed something, and the number of texts whose run didn't end by itself. */
export type Ran = { readonly hits: readonly Run[]; readonly endless: number }

const secondsOfBatch = 60
const secondsAlone = 5

/**
 * A folder in which texts are run. A shell forks a process for each text, so a batch needs only one sandbox. The texts are run one by one only if the
 * folder has changed after a batch.
 */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'portcullis-fuzz-'))
  readonly #work = join(this.#root, 'w')

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** Runs texts of one kind with one shell. The `hits` are the texts that change something, or all texts if only several together do so. */
  async run(runs: readonly Run[]): Promise<Ran> {
    const [first] = runs
    if (first === undefined) return { hits: [], endless: 0 }
    this.#fresh(first.kind)
    const before = this.#state()
    let [done, endless] = [0, 0]
    while (done < runs.length) {
      const ended = done + (await this.#batch(first.shell, runs.slice(done)))
      // The text at which the batch stopped either made the shell of the whole batch exit, or never finished.
      if (ended < runs.length) endless++
      done = ended + 1
    }
    if (this.#state() === before) return { hits: [], endless }
    const alone = runs.filter((run) => this.#changes(run))
    // A change that only several texts together cause is still found: then all of them are reported.
    return { hits: alone.length > 0 ? alone : runs, endless }
  }

  #fresh(kind: string): void {
    rmSync(this.#work, { recursive: true, force: true })
    mkdirSync(join(this.#work, 'd'), { recursive: true })
    writeFileSync(join(this.#work, 'a'), 'a b\n"x" / #y\n')
    writeFileSync(join(this.#work, 'd/b'), 'b\n')
    if (kind === 'git') cpSync(repository(), this.#work, { recursive: true })
  }

  /**
   * Describes the state of the folder. The times also reveal a file that was created and then removed. Git itself may change its index, and the times
   * of other files below `.git`, so only the names and contents of those are described.
   */
  #state(): string {
    const own = ['.', 'd', 'a', 'd/b'].map((name) => {
      const { mtimeNs, ctimeNs, ino } = statSync(join(this.#work, name), { bigint: true })
      return `${mtimeNs} ${ctimeNs} ${ino}`
    })
    const names = readdirSync(this.#work, { recursive: true, withFileTypes: true })
    const git = names.flatMap((entry) => {
      const path = join(entry.parentPath, entry.name)
      if (!path.includes('/.git/') || entry.name === 'index') return []
      return [path, entry.isFile() ? readFileSync(path, 'latin1') : '']
    })
    return [...own, ...git].join('\n')
  }

  /** Runs texts in one shell, which forks a process for each of them. Returns how many of them ended. */
  async #batch(shell: string, runs: readonly Run[]): Promise<number> {
    const script = runs
      .map(({ text }, at) => `( eval ${quote(text)} ) </dev/null >/dev/null 2>&1; echo ${at + 1}\n`)
      .join('')
    // Background processes get a moment to end.
    const source = `ulimit -t 1\n${script}sleep 0.05\n`
    const path = join(this.#root, 'batch')
    writeFileSync(path, source)
    const child = spawn('bwrap', [...this.#sandbox(), '--ro-bind', path, '/tmp/batch', shell, '/tmp/batch'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text))
    const timer = setTimeout(() => child.kill('SIGKILL'), secondsOfBatch * 1_000)
    await once(child, 'close')
    clearTimeout(timer)
    return Number(said.trimEnd().split('\n').at(-1))
  }

  #changes({ shell, text, kind }: Run): boolean {
    this.#fresh(kind)
    const before = this.#state()
    const line = [...this.#sandbox(), 'sh', '-c', '"$@"; sleep 0.1', 'sh', shell, '-c', text]
    spawnSync('bwrap', line, { stdio: 'ignore', timeout: secondsAlone * 1_000, killSignal: 'SIGKILL' })
    return this.#state() !== before
  }

  /** The arguments for a bwrap sandbox in which commands can't write to the host outside the scratch folder, even if the analysis misjudged them. */
  #sandbox(): readonly string[] {
    return [
      ...['--ro-bind', '/', '/', '--tmpfs', '/tmp', '--dev', '/dev', '--proc', '/proc', '--unshare-all'],
      ...['--die-with-parent', '--bind', this.#work, '/tmp/w', '--chdir', '/tmp/w', '--setenv', 'HOME', '/nowhere'],
      ...['--setenv', 'GIT_CONFIG_NOSYSTEM', '1', '--setenv', 'GIT_CONFIG_GLOBAL', '/dev/null'],
    ]
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

let made: string | undefined

/** A repository with two commits and a modified file. */
function repository(): string {
  if (made !== undefined) return made
  made = mkdtempSync(join(tmpdir(), 'portcullis-fuzz-git-'))
  const script = `
    printf 'a b\\n"x" / #y\\n' > a && mkdir d && echo b > d/b
    git init -q -b main . && git config user.email a@b.c && git config user.name n && git config gpg.program 'touch q;'
    git add -A && git commit -qm one && echo c >> a && git commit -qam two && git tag t && echo d >> a`
  const env = { ...process.env, HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const ran = spawnSync('sh', ['-ec', script], { cwd: made, env, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`no repository could be made: ${ran.stderr}`)
  process.once('exit', () => rmSync(made ?? '', { recursive: true, force: true }))
  return made
}
