import { expect, test } from 'vitest'
import { parseGitConfig, sanitizeGitConfig } from '../../sandbox/git/config.ts'

const initial = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n'

test.each([
  ['what git init writes', initial],
  [
    'an address',
    `${initial}[remote "origin"]\n\turl = git@host:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
  ],
  ['a branch with a dot', `${initial}[branch "a.b"]\n\tremote = origin\n\tmerge = refs/heads/a.b\n`],
  ['who commits', `${initial}[user]\n\tname = A B\n\temail = a@b\n`],
])('%s is harmless', (_, text) => {
  expect(sanitizeGitConfig(text)).toBeUndefined()
})

test.each([
  'core.fsmonitor=x',
  'core.hooksPath=x',
  'core.sshCommand=x',
  'core.editor=x',
  'core.pager=x',
  'core.worktree=/',
  'core.gitProxy=x',
  'core.askPass=x',
  'core.alternateRefsCommand=x',
  'core.attributesFile=x',
  'alias.status=!x',
  'include.path=x',
  'includeIf.gitdir:/.path=x',
  'filter.f.clean=x',
  'filter.f.smudge=x',
  'filter.f.process=x',
  'diff.external=x',
  'diff.d.textconv=x',
  'diff.d.command=x',
  'merge.m.driver=x',
  'merge.tool=x',
  'gpg.program=x',
  'gpg.ssh.program=x',
  'credential.helper=!x',
  'sequence.editor=x',
  'pager.log=x',
  'remote.o.url=ext::sh -c x',
  'remote.o.url=-oProxyCommand=x',
  'remote.o.vcs=x',
  'remote.o.uploadpack=x',
  'url.ext::x.insteadOf=https://',
  'submodule.s.update=!x',
  'uploadpack.packObjectsHook=x',
  'protocol.ext.allow=always',
  'trailer.t.command=x',
  'browser.b.cmd=x',
  'init.templateDir=x',
  'extensions.worktreeConfig=true',
  'gc.recentObjectsHook=x',
])('%s is cut out, and only that', (setting) => {
  const [key, value] = [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)]
  const section = key.slice(0, key.indexOf('.'))
  const name = key.slice(key.lastIndexOf('.') + 1)
  const middle = key.slice(section.length + 1, Math.max(key.lastIndexOf('.'), section.length + 1))
  const header = middle === '' ? `[${section}]\n` : `[${section} "${middle}"]\n`
  expect(sanitizeGitConfig(`${initial}${header}\t${name} = ${value}\n`)).toBe(initial + header)
})

test.each([
  ['a setting on its section line', '[core] fsmonitor = x\n'],
  ['a continued line', '[user]\n\tname = a \\\n[core]\n'],
  ['a quoted value', '[user]\n\tname = "a"\n'],
  ['a setting before any section', 'fsmonitor = x\n'],
  ['an old subsection with a dot is read as git does, but', '[core]]\n'],
])('%s is not judged but left out whole', (_, text) => {
  expect(parseGitConfig(text)).toBeUndefined()
  expect(sanitizeGitConfig(text)).toBe('')
})
