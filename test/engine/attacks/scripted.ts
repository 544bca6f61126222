import type { Places } from '../../sandbox/battery/places.ts'
import { secret } from '../../sandbox/battery/places.ts'
import type { Row } from './rows.ts'

type Script = Extract<Row['act'], { readonly kind: 'script' }>

/** Attacks that do more than write or read one file. */
export function scriptedAttacks({ workspace, home, outside, base, hostMark }: Places): readonly Row[] {
  const row = (mechanism: string, name: string, text: string, more: Omit<Script, 'kind' | 'text'> = {}): Row => ({
    name,
    mechanism,
    act: { kind: 'script', text, ...more },
  })
  const got = (text: string): string => `${text} | grep -aq ${secret.slice(0, -1)}[${secret.slice(-1)}] && echo GOT`
  const settings = 'echo planted > .claude/settings.json'
  const planted = { leaves: ['.claude/settings.json'] }
  return [
    // Files planted in such a way that they can't be moved, seen or read.
    row(
      'closed',
      'settings in a directory without the right to write',
      `mkdir .claude; ${settings}; chmod 555 .claude`,
      planted,
    ),
    row(
      'closed',
      'settings in a directory that nobody may enter',
      `mkdir .claude; ${settings}; chmod 000 .claude`,
      planted,
    ),
    row(
      'closed',
      'settings below a closed parent',
      `mkdir -p x/.claude; echo planted > x/.claude/settings.json; chmod 111 x`,
      { leaves: ['x/.claude/settings.json'] },
    ),
    row(
      'closed',
      'a hook in a directory that is only entered',
      `git init -q r; echo planted > r/.git/hooks/pre-commit; chmod 111 r/.git/hooks`,
      { leaves: ['r/.git/hooks/pre-commit'] },
    ),
    row(
      'names',
      'settings below a name that is not UTF-8',
      `d=$(printf 'caf\\351'); mkdir -p "$d/.claude"; echo planted > "$d/.claude/settings.json"; mkdir plain; mv "$d" plain/`,
      { onHost: 'cat plain/*/.claude/settings.json 2>/dev/null | grep -q planted && echo GOT' },
    ),
    row(
      'names',
      'settings below a directory called **',
      `mkdir -p '**/.claude'; echo planted > '**/.claude/settings.json'`,
      { leaves: ['**/.claude/settings.json'] },
    ),
    row(
      'names',
      'settings by a name with a newline before it',
      `mkdir -p "$(printf 'a\\nb')/.vscode"; echo planted > "$(printf 'a\\nb')/.vscode/tasks.json"`,
      { leaves: ['a\nb/.vscode/tasks.json'] },
    ),
    row(
      'names',
      'settings by a link to a directory',
      `mkdir real; echo planted > real/settings.json; ln -s real .claude`,
      planted,
    ),
    row('names', 'settings by a hard link', `echo planted > plain; ln plain .mcp.json`, { leaves: ['.mcp.json'] }),
    row('names', 'settings renamed into place', `mkdir tmp; echo planted > tmp/settings.json; mv tmp .claude`, planted),
    row(
      'names',
      'settings deeper than any path',
      `for i in $(seq 60); do n=$(printf 'd%.0s' $(seq 100)); mkdir -p $n; cd -P $n || exit; done; mkdir .claude; ${settings}`,
      { onHost: `find . -path '*/.claude/settings.json' | grep -q . && echo GOT` },
    ),
    row('fifo', 'a pipe called .git beside settings', `mkdir s .claude; mkfifo s/.git; ${settings}`, planted),
    row(
      'fifo',
      'pipes among git’s files beside settings',
      `git init -q x; mkfifo x/.git/config.worktree; rm x/.git/HEAD; mkfifo x/.git/HEAD; mkdir .claude; ${settings}`,
      planted,
    ),
    row(
      'fifo',
      'sockets and devices called .git',
      `mkdir s t; mknod s/.git p; ln -s /dev/zero t/.git; mkdir .claude; ${settings}`,
      planted,
    ),
    // Processes that keep running, or start later.
    row(
      'outlive',
      'settings planted after the shell was killed',
      `mkdir .claude; (setsid sh -c 'sleep 3; ${settings}' >/dev/null 2>&1 &) ; true`,
      planted,
    ),
    row(
      'outlive',
      'a process that goes on',
      `(setsid sleep 7${hostMark}1 >/dev/null 2>&1 &); nohup sleep 7${hostMark}1 >/dev/null 2>&1 & true`,
    ),
    // Set-user-id files, made by every call that can make them.
    row(
      'set-user-id',
      'by O_TMPFILE and linkat',
      python(
        `
f=os.open('.', 0o20200002, 0o6755); os.write(f, b'x')
os.link('/proc/self/fd/%d' % f, 'suid', follow_symlinks=True)`,
        `os.stat('suid').st_mode & 0o6000`,
      ),
    ),
    row(
      'set-user-id',
      'by fchmod, mkdir and mknod',
      python(
        `
import ctypes
try: os.mknod('suid', 0o104755)
except OSError: open('suid','w')
f=os.open('suid', os.O_RDWR)
try: os.fchmod(f, 0o4755)
except OSError: pass`,
        `os.stat('suid').st_mode & 0o6000`,
      ),
    ),
    // Attacks on the run's own files, and on programs that the run starts.
    row(
      'own',
      'a pipe of a run that can be written',
      `find / -xdev -type p -path '*portcullis-run*' -writable 2>/dev/null | grep -q . && echo GOT`,
      { atTop: true },
    ),
    row(
      'own',
      'sessions and audit log',
      `find ${home} -path '*portcullis*' -name '*.jsonl' 2>/dev/null | grep -q . && echo GOT; echo planted >> ${home}/.local/state/portcullis/x`,
      { atTop: true },
    ),
    row(
      'host-side',
      'programs by a name that PATH finds in the workspace',
      `mkdir -p node_modules/.bin; for n in mkfifo git ldd sh env rg node bwrap id ps kill docker setsid timeout prlimit; do printf '#!/bin/sh\\ntouch ${outside}/sentinel-'$n'\\nexec /usr/bin/'$n' "$@"\\n' > node_modules/.bin/$n; chmod +x node_modules/.bin/$n; done`,
      { atTop: true },
    ),
    row('host-side', 'the file that the last message goes to', `rm -f entry.md; ln -s ${home}/.bashrc entry.md`, {
      atTop: true,
    }),
    row(
      'host-side',
      'the repository in the way of what the host reads',
      `for f in AGENTS.md CLAUDE.md; do ln -sf ${home}/.ssh/credentials $f; done`,
      { atTop: true },
    ),
    // Denied files that are moved or linked.
    row('denied', 'a denied directory, moved with its parent', 'mv cfg c2; cat c2/private/key; mkdir cfg', {
      atTop: true,
      later: 'cat c2/private/key cfg/private/key c2/.env; mv c2 c3; cat c3/private/key; rmdir cfg; mv c3 cfg',
    }),
    row('denied', 'a denied file by a hard link', 'ln cfg/.env e2; cat e2', { atTop: true, later: 'cat e2' }),
    // Harmful files and settings that an import of the run's git changes could bring in.
    row(
      'git-import',
      'links among git’s files',
      `cd ${workspace}; for n in BISECT_LOG FETCH_HEAD ORIG_HEAD MERGE_MSG logs/HEAD refs/heads/evil info/sparse-checkout shallow refs/notes/x; do rm -f .git/$n; mkdir -p "$(dirname .git/$n)"; ln -s ${home}/.ssh/credentials .git/$n; done; git status >/dev/null 2>&1; true`,
      {
        atTop: true,
        later: got(
          'cat .git/BISECT_LOG .git/FETCH_HEAD .git/ORIG_HEAD .git/MERGE_MSG .git/logs/HEAD .git/info/sparse-checkout .git/shallow .git/refs/heads/evil 2>/dev/null',
        ),
      },
    ),
    row(
      'git-import',
      'objects from elsewhere',
      `cd ${workspace}; echo ${outside} > .git/objects/info/alternates; git config core.worktree ${home}; git --work-tree=${home} add -f ${home}/.ssh/credentials`,
      { atTop: true, later: got('git cat-file --batch-all-objects --batch 2>/dev/null') },
    ),
    row(
      'git-import',
      'a submodule’s url that is an option',
      `git init -q m; cd m; printf '[submodule "x"]\\n\\tpath = x\\n\\turl = --upload-pack=touch sentinel;:\\n' > .gitmodules; git add .gitmodules; git -c user.name=a -c user.email=a@b commit -qm x`,
      { gitIn: 'm' },
    ),
    // Attacks through descriptors, the kernel's files, other processes, and unusual paths.
    row(
      'hidden',
      'what descriptors of all processes lead to',
      got(
        `for f in /proc/[0-9]*/fd/* /proc/[0-9]*/cwd /proc/[0-9]*/root; do timeout 1 cat $f/${home}/.ssh/credentials $f/.ssh/credentials $f/home/.ssh/credentials $f/../home/.ssh/credentials; done 2>/dev/null`,
      ),
      { atTop: true },
    ),
    row(
      'hidden',
      'bind mounts by their sources in mountinfo',
      got(
        `cut -d' ' -f4,5 /proc/self/mountinfo | tr ' ' '\\n' | while read -r p; do cat "$p/.ssh/credentials" "$p/credentials"; done 2>/dev/null`,
      ),
      { atTop: true },
    ),
    row(
      'hidden',
      'by magic links of threads',
      got(
        `cat /proc/thread-self/root${home}/.ssh/credentials /proc/self/task/*/root${home}/.ssh/credentials 2>/dev/null`,
      ),
      { atTop: true },
    ),
    row(
      'outside',
      'by a relative way up from a deleted directory',
      `mkdir gone; cd gone; rmdir ../gone; echo planted > ../../../outside/up 2>/dev/null; cd /proc/self/cwd; echo planted > ../../outside/up2`,
      { atTop: true },
    ),
    row(
      'outside',
      'attributes and access lists of what lies outside',
      `setfattr -n user.x -v planted ${outside}/file && echo GOT; setfacl -m u:nobody:rwx ${outside}/file && echo GOT; [ -e ${outside}/file ] && touch -c -d 2001-01-01 ${outside}/file && echo GOT; chmod 777 ${outside}/file ${outside} && echo GOT; truncate -s 0 ${outside}/file && echo GOT`,
      { atTop: true },
    ),
    row('outside', 'locks on files outside', `flock -n -x ${outside} -c 'true' && echo LOCKED; true`, { atTop: true }),
    row(
      'outside',
      'renames across the border',
      `mv ${outside}/file here && echo GOT; mv -T notes.txt ${outside}/notes.txt 2>/dev/null && echo GOT; ln ${base}/outside/file hl && echo GOT`,
      { atTop: true },
    ),
  ]
}

function python(text: string, when: string): string {
  return `python3 - <<'P'\nimport os\ntry:${text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n')}\nexcept OSError: pass\ntry: print('GOT' if ${when} else '')\nexcept OSError: pass\nP`
}
