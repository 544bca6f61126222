/**
 * Builds the helper, the C program that runs first inside sandboxes, for both processors, with Debian's gcc and gcc-aarch64-linux-gnu. The files are
 * checked in, so that nobody needs a compiler to build or use this package. With `--check`, nothing is written: the build is compared bit for bit
 * with the files that are checked in, where the compiler is the same, and clang's analyser reads the sources, where there is clang. `--prove` is for
 * releases: there, a file that can't be compared is a failure too.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const sources = 'sandbox/helper'
const built = `${sources}/bin`
const listed = `${built}/SHA256SUMS`

const compilers = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' } as const

/** Why each group of options is needed is not obvious, so it is said here. */
const options: readonly string[] = [
  ...['-std=gnu11', '-Os', '-Wall', '-Wextra', '-Werror', '-Wconversion', '-Wno-sign-conversion', '-Wshadow'],
  // There is no C library, and so nothing that unwinds stacks or handles a damaged one, and nothing behind memcpy and memset but our own loops, out of
  // which the compiler must not make calls of memcpy and memset.
  ...['-ffreestanding', '-nostdlib', '-static', '-fno-stack-protector', '-fno-asynchronous-unwind-tables'],
  '-fno-tree-loop-distribute-patterns',
  // The file must not depend on where it was built, or be larger than it has to be.
  ...['-fno-unwind-tables', '-fno-ident', '-fno-pie', '-no-pie', '-s', '-ffunction-sections', '-fdata-sections'],
  '-Wl,--gc-sections,--build-id=none,-z,noseparate-code,-z,noexecstack',
]

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (error !== undefined || status !== 0) {
    const packages = 'apt-get install gcc gcc-aarch64-linux-gnu linux-libc-dev-arm64-cross'
    throw new Error(`${program} failed (Debian's packages: ${packages}): ${error?.message ?? stderr}`)
  }
  return stdout
}

/** The versions of what determines the bytes. The kernel's headers do too, but only with constants and structures that never change. */
function versionOf(compiler: string): string {
  const [name] = run(compiler, ['--version']).split('\n')
  const linker = run(compiler, ['-print-prog-name=ld']).trim()
  const [ld] = run(linker, ['--version']).split('\n')
  return `${name}, ${ld}`
}

/** Has clang's analyser read all sources. It follows every path through a function, and finds what compilers don't. */
function analyse(): void {
  if (spawnSync('clang', ['--version']).error !== undefined) {
    process.stdout.write('clang is not installed, so its analyser has not read the helper\n')
    return
  }
  const warnings = options.filter((option) => /^-(?:std|W(?!l,))/.test(option))
  const analyser = ['--analyze', '--analyzer-output', 'text', '-Xclang', '-analyzer-werror', '-ffreestanding']
  for (const file of files) {
    const { status, stderr } = spawnSync('clang', [...warnings, ...analyser, file], { encoding: 'utf8' })
    if (status === 0) continue
    process.stderr.write(stderr)
    process.exitCode = 1
  }
}

/** Refuses a release with a file of which nobody knows whether the sources give it. */
function refuse(name: string, version: string): void {
  const other = known.split('\n').find((line) => line.startsWith(`# ${name}: `))
  process.stderr.write(
    `A release needs a proof that ${built}/${name} is what its sources give. ${listed} notes another compiler:\n  ${other}\n  ${version}\n` +
      'Install that version, or run `npm run build:helper` and commit the result.\n',
  )
  process.exitCode = 1
}

const prove = process.argv.includes('--prove')
const check = prove || process.argv.includes('--check')
const files = readdirSync(sources)
  .filter((name) => name.endsWith('.c'))
  .toSorted()
  .map((name) => join(sources, name))
const known = check ? readFileSync(listed, 'utf8') : ''
const temporary = mkdtempSync(join(tmpdir(), 'helper-'))
const lines: string[] = []
try {
  for (const [architecture, compiler] of Object.entries(compilers)) {
    const name = `helper-${architecture}`
    const version = `# ${name}: ${versionOf(compiler)}`
    if (check && !known.includes(`${version}\n`)) {
      process.stdout.write(`${name}: compiler differs, not compared\n`)
      if (prove) refuse(name, version)
      continue
    }
    const file = join(temporary, name)
    run(compiler, [...options, '-o', file, ...files])
    const bytes = readFileSync(file)
    const digest = createHash('sha256').update(bytes).digest('hex')
    lines.push(version, `${digest}  ${name}`)
    if (!check) writeFileSync(join(built, name), bytes)
    else if (!bytes.equals(readFileSync(join(built, name))) || !known.includes(`${digest}  ${name}\n`)) {
      process.stderr.write(`${built}/${name} is not what its sources give: run \`npm run build:helper\`.\n`)
      process.exitCode = 1
    } else process.stdout.write(`${name}: ${bytes.length} bytes, the same\n`)
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
if (check) analyse()
else writeFileSync(listed, `${lines.toSorted().join('\n')}\n`)
