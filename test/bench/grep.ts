import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { KeptOutputs } from '../../engine/core/kept-outputs.ts'
import { openFiles } from '../../engine/tools/files/open-files.ts'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { measureInTurns, type MeasuredAct } from './measure.ts'
import type { BenchRow } from './row.ts'

const count = 5_000

/** Measures a search for a rare word in a repository: alternately with ripgrep, if it is installed, and without it. */
export async function grepBench(): Promise<BenchRow> {
  const base = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  try {
    const workspace = await makeTree(join(base, 'repository'))
    const programs = ['git', ...(spawnSync('rg', ['--version']).status === 0 ? ['rg'] : [])]
    const [without, using] = await Promise.all([
      opened(workspace, join(base, 'plain'), ['git']),
      opened(workspace, join(base, 'more'), programs),
    ])
    const [plain, fast] = await measureInTurns([without.act, using.act], 9)
    await Promise.all([without.close(), using.close()])
    const found = programs.includes('rg')
    return {
      name: `tools: grep in ${count} files`,
      ours: { wallMs: (found ? fast : plain)?.wallMs ?? Number.NaN },
      note: found ? `with ripgrep; without ${plain?.wallMs.toFixed(0)} ms` : 'without ripgrep, which is not installed',
    }
  } finally {
    await rm(base, { recursive: true, force: true })
  }
}

async function makeTree(root: string): Promise<string> {
  const text = 'export function nothing(): number {\n  return 1\n}\n'.repeat(80)
  for (let folder = 0; folder < 50; folder++) {
    await mkdir(join(root, `folder-${folder}`), { recursive: true })
    for (let at = 0; at < count / 50; at++) {
      const rare = (folder + at) % 200 === 0 ? '// a rare word\n' : ''
      await writeFile(join(root, `folder-${folder}`, `file-${at}.ts`), text + rare)
    }
  }
  execFileSync('git', ['init', '--quiet', root])
  return root
}

/** Opens a sandbox in which only these programs are on the PATH, and returns the search to measure. */
async function opened(
  workspace: string,
  path: string,
  programs: readonly string[],
): Promise<{ readonly act: MeasuredAct; readonly close: () => Promise<void> }> {
  await mkdir(path)
  for (const name of programs) {
    const target = execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim()
    await symlink(target, join(path, name))
  }
  const sandbox = await openSandbox(
    parsePolicy({
      mode: 'workspace-write',
      workspace,
      readableRoots: [path, dirname(process.execPath)],
      environment: { set: { PATH: path } },
    }),
  )
  const files = openFiles(
    sandbox,
    new KeptOutputs(
      () => '',
      (text) => text,
    ),
  )
  const query = {
    path: workspace,
    glob: undefined,
    pattern: 'a rare word',
    ignoreCase: false,
    multiline: false,
    context: 0,
    limit: 200,
  }
  return {
    act: {
      directory: () => Promise.resolve(workspace),
      act: () => files.search(query, new AbortController().signal),
    },
    close: async () => {
      files.close()
      await sandbox.close()
    },
  }
}
