import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeScene, snapshot } from './tree-tools.ts'

/** Arguments that make bwrap create a mount namespace with an empty `/proc`. */
const sandbox = ['--bind', '/', '/', '--dev-bind', '/dev', '/dev', '--tmpfs', '/proc', '--']
const probe = spawnSync('bwrap', [...sandbox, '/bin/true'], { encoding: 'utf8' })
const missing = probe.error !== undefined ? 'bwrap is not installed' : probe.stderr.trim()
const skipped = missing !== '' && process.env['CI'] !== 'true'

test.skipIf(skipped)(
  `without /proc, as on systems that have none, everything works by checked paths${skipped ? ` (skipped: ${missing})` : ''}`,
  () => {
    expect(missing).toBe('')
    const { root, outside, state } = makeScene({
      'sub/x': 'old',
      'gone/y': 'y',
      'from.txt': { mode: 0o751, text: 'm' },
    })
    const before = snapshot(root)
    const program = join(state, 'program.ts')
    const library = new URL('../../../apply-patch/files/index.ts', import.meta.url).pathname
    const tools = new URL('change-tools.ts', import.meta.url).pathname
    writeFileSync(
      program,
      `import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
       import { commitChangeSet, openTree, undo } from ${JSON.stringify(library)}
       import { add, changeSet, move, remove, update } from ${JSON.stringify(tools)}
       if (existsSync('/proc/self')) throw new Error('there is a /proc')
       const root = ${JSON.stringify(root)}
       const options = { stateDirectory: ${JSON.stringify(join(state, 'journals'))} }
       const tree = openTree(root, { unsafePaths: false })
       const set = changeSet(tree, [
         update(tree, 'sub/x', 'new'), remove(tree, 'gone/y'), add(tree, 'made/z', 'z'), ...move(tree, 'from.txt', 'sub/to.txt'),
       ])
       await commitChangeSet(set, options)
       console.log(readFileSync(root + '/sub/x', 'utf8'), readFileSync(root + '/made/z', 'utf8'), existsSync(root + '/gone/y'))
       await undo(root, options)
       const again = openTree(root, { unsafePaths: false })
       const swapped = changeSet(again, [update(again, 'sub/x', 'stray')])
       renameSync(root + '/sub', root + '/was')
       symlinkSync(${JSON.stringify(outside)}, root + '/sub')
       await commitChangeSet(swapped, options).catch((error) => console.log(error.code, error.tree))
       console.log(readFileSync(root + '/was/x', 'utf8'))`,
    )
    const { stdout, stderr } = spawnSync('bwrap', [...sandbox, process.execPath, program], { encoding: 'utf8' })
    expect(stdout + stderr).toBe('new z false\nchanged unchanged\nold\n')
    expect(snapshot(outside)).toEqual({})
    expect(Object.values(snapshot(root)).toSorted()).toEqual([...Object.values(before), `link ${outside}`].toSorted())
  },
)
