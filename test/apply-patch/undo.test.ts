import { cpSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { fingerprint, makeCase, runProgram, type CaseFile } from './case-tools.ts'

const change = '*** Begin Patch\n*** Update File: f.txt\n@@\n a\n-b\n+B\n*** End Patch\n'
const scene = (files: Readonly<Record<string, CaseFile>> = { 'f.txt': 'a\nb\nc\n' }): string => makeCase({ files }).cwd

test('undo never offers a patch that was applied to another directory at this path', () => {
  const cwd = scene()
  const state = join(cwd, '../state')
  expect(runProgram(cwd, change, { state }).status).toBe(0)
  const left = readFileSync(join(cwd, 'f.txt'), 'utf8')
  // A new directory usually gets the inode of the one that was just removed.
  rmSync(cwd, { recursive: true })
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'f.txt'), left, { mode: 0o644 })
  const run = runProgram(cwd, '', { args: ['undo'], state })
  expect([run.status, readFileSync(join(cwd, 'f.txt'), 'utf8')]).toEqual([1, left])
  expect(run.stderr.split('\n').slice(0, 2)).toEqual([
    `There is no applied patch to revert in ${cwd}`,
    '  the last patch at this path was applied to another directory, which this one has replaced',
  ])
})

test('a copy of a tree, or one put in its place, has no patch to undo, but a moved tree has', () => {
  const cwd = scene({ 'f.txt': 'a\nb\nc\n', 'sub/g.txt': 'g\n' })
  const before = fingerprint(cwd)
  const state = join(cwd, '../state')
  expect(runProgram(cwd, change, { state }).status).toBe(0)
  const [moved, copied] = [join(cwd, '../moved'), join(cwd, '../copied')]
  cpSync(cwd, copied, { recursive: true, preserveTimestamps: true })
  renameSync(cwd, moved)
  renameSync(copied, cwd)
  expect(runProgram(cwd, '', { args: ['undo'], state })).toMatchObject({ status: 1, stdout: '' })
  expect(runProgram(join(moved, 'sub'), '', { args: ['undo'], state }).status).toBe(1)
  expect(runProgram(moved, '', { args: ['undo'], state }).status).toBe(0)
  expect(fingerprint(moved)).toEqual(before)
  expect(runProgram(moved, '', { args: ['undo'], state }).status).toBe(1)
})

test('undo through a symlink reverts the patch of the tree behind it', () => {
  const cwd = scene()
  const before = fingerprint(cwd)
  const link = join(cwd, '../link')
  symlinkSync(cwd, link)
  const state = join(cwd, '../state')
  expect(runProgram(cwd, change, { state }).status).toBe(0)
  expect(runProgram(link, '', { args: ['undo'], state }).status).toBe(0)
  expect(fingerprint(cwd)).toEqual(before)
})

test('a patch puts a directory in the place of a link to a directory, and undo brings the link back', () => {
  const cwd = scene({ 'a/x': 'in a\n' })
  symlinkSync('a', join(cwd, 'b'))
  const before = fingerprint(cwd)
  const state = join(cwd, '../state')
  const patch = '*** Begin Patch\n*** Delete File: b\n*** Add File: b/x\n+in b\n*** End Patch\n'
  expect(runProgram(cwd, patch, { state })).toMatchObject({ status: 0 })
  expect([readFileSync(join(cwd, 'a/x'), 'utf8'), readFileSync(join(cwd, 'b/x'), 'utf8')]).toEqual(['in a\n', 'in b\n'])
  expect(runProgram(cwd, '', { args: ['undo'], state })).toMatchObject({ status: 0 })
  expect(fingerprint(cwd)).toEqual(before)
})

test.skipIf(process.platform !== 'linux')(
  'undo restores the target of a symlink byte for byte, even if it is not UTF-8',
  () => {
    const cwd = scene()
    const state = join(cwd, '../state')
    const target = Buffer.from('t\xe4', 'latin1')
    const links = ['gone', 'moved']
    for (const name of links) symlinkSync(target, join(cwd, name))
    const patch = '*** Begin Patch\n*** Delete File: gone\n*** Update File: moved\n*** Move to: there\n*** End Patch\n'
    expect(runProgram(cwd, patch, { state })).toMatchObject({ status: 0 })
    expect(readlinkSync(join(cwd, 'there'), 'buffer')).toEqual(target)
    expect(runProgram(cwd, '', { args: ['undo'], state }).status).toBe(0)
    for (const name of links) expect(readlinkSync(join(cwd, name), 'buffer')).toEqual(target)
  },
)

test.skipIf(process.platform !== 'linux')(
  'undo notices that a symlink has a different target, even if Node would decode both targets to the same text',
  () => {
    const cwd = scene()
    const state = join(cwd, '../state')
    symlinkSync(Buffer.from('t\xe4', 'latin1'), join(cwd, 'a'))
    const patch = '*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n'
    expect(runProgram(cwd, patch, { state })).toMatchObject({ status: 0 })
    rmSync(join(cwd, 'b'))
    symlinkSync('t\ufffd', join(cwd, 'b'))
    expect(runProgram(cwd, '', { args: ['undo'], state }).status).toBe(1)
    expect(readlinkSync(join(cwd, 'b'))).toBe('t\ufffd')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a patch does not follow a symlink whose target is not UTF-8 to the file whose name Node would read instead',
  () => {
    const cwd = scene({ 't\ufffd': 'a\nb\nc\n' })
    symlinkSync(Buffer.from('t\xe4', 'latin1'), join(cwd, 'f.txt'))
    expect(runProgram(cwd, change, { state: join(cwd, '../state') }).status).toBe(1)
    expect(readFileSync(join(cwd, 't\ufffd'), 'utf8')).toBe('a\nb\nc\n')
  },
)
