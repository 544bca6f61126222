import { readOnly, unknown, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import type { ShellWord } from '../commands/shell-word.ts'
import { join, judgeFiles } from './judges.ts'
import type { Program, ProgramTable } from './program-table.ts'

/**
 * Creates the table row for a program that writes the files named by its operands. With `reads`, the program writes only the last of these files, and
 * reads the others. With `keeps: 'nothing'`, it also removes the files that it reads.
 */
function writer(
  source: string,
  options: string,
  style: { readonly reads?: true; readonly keeps?: 'nothing' } = {},
): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args, { place }) => {
      const parsed = parseArguments(args, table, { letters: 'getopt', anyWord: true })
      if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
      const { operands } = parsed
      const written = style.reads === true ? operands.slice(-1) : operands
      const isLost = (word: ShellWord): boolean => (style.keeps === 'nothing' ? place.isWide(word) : place.isAll(word))
      const lost = (style.keeps === 'nothing' ? operands.slice(0, -1) : written).find(isLost)
      const target = parsed.options.filter(({ takes }) => takes === 'writes').map(({ value }) => value?.text ?? '')
      const paths = [...written.map(({ text }) => text), ...target]
      const read =
        style.reads === true ? judgeFiles(target.length > 0 ? operands : operands.slice(0, -1)) : { facts: [] }
      const loss: readonly Fact[] =
        lost === undefined
          ? []
          : [{ class: 'destructive', reason: `it overwrites or moves away ${lost.text}`, extent: 'wide' }]
      return join([{ facts: [{ class: 'writes', paths }, ...loss] }, read])
    },
  }
}

/** Programs that create or change files. They are judged only by the files that they write and read, even if they overwrite or replace a file. */
export const writers: ProgramTable = {
  touch: writer('touch(1)', '-a -c -d: -f -h -m -r< -t: --no-create --date: --no-dereference --reference< --time:'),
  mkdir: writer('mkdir(1)', '-p -v -m: -Z --parents --verbose --mode: --context?'),
  mktemp: writer('mktemp(1)', '-d -q -t -u -p> --directory --quiet --dry-run --suffix: --tmpdir?'),
  mkfifo: writer('mkfifo(1)', '-m: --mode:'),
  cp: writer(
    'cp(1)',
    '-a -b -d -f -i -H -l -L -n -p -P -r -R -s -t> -T -u -v -x -Z --archive --force --interactive --link --dereference --no-clobber --no-dereference --preserve? --parents --recursive --reflink? --sparse: --symbolic-link --target-directory> --no-target-directory --update? --verbose --one-file-system --backup?',
    { reads: true },
  ),
  install: writer(
    'install(1)',
    '-b -c -C -d -D -g: -m: -o: -p -t> -T -v -Z --directory --group: --mode: --owner: --target-directory> --verbose',
    { reads: true },
  ),
  ln: writer(
    'ln(1)',
    '-b -f -i -L -n -P -r -s -t> -T -v --force --interactive --symbolic --relative --verbose --no-dereference --target-directory> --no-target-directory',
  ),
  tee: writer('tee(1)', '-a -i -p --append --ignore-interrupts --output-error?'),
  truncate: writer('truncate(1)', '-c -o -r< -s: --no-create --io-blocks --reference< --size:'),
  split: writer(
    'split(1): not --filter',
    '-a: -b: -C: -d -e -l: -n: -t: -u -x --bytes: --lines: --number: --numeric-suffixes? --suffix-length: --additional-suffix:',
  ),
  csplit: writer('csplit(1)', '-b: -f: -k -n: -s -z'),
  gzip: writer(
    'gzip(1)',
    '-1 -2 -3 -4 -5 -6 -7 -8 -9 -d -f -k -n -N -q -r -v -S: --decompress --force --keep --recursive --best --fast',
  ),
  gunzip: writer('gunzip(1)', '-f -k -n -N -q -r -v -S: --force --keep'),
  bzip2: writer('bzip2(1)', '-1 -9 -d -f -k -q -v -z --decompress --force --keep'),
  xz: writer('xz(1)', '-0 -1 -6 -9 -d -e -f -k -q -T: -v -z --decompress --force --keep --threads:'),
  patch: writer('patch(1)', '-p: -i< -N -R -f -s -d: --strip: --input< --dry-run --forward --reverse --force --silent'),
  dos2unix: writer('dos2unix(1)', '-q -k -n'),
  setfacl: writer('setfacl(1)', '-m: -x: -b -k -R'),
}

/** Creates the row of a program that deletes something. */
function destroyer(source: string, options: string, verb: string, skip = 0): Program {
  const table = optionTable(options)
  return {
    source,
    judge: (args, { place }) => {
      const parsed = parseArguments(args, table, { letters: 'getopt', anyWord: true })
      const operands = (parsed.ok ? parsed.operands : args).slice(skip)
      const fact: Fact = {
        class: 'destructive',
        reason: `it ${verb} ${operands.map(({ text }) => text).join(' ')}`,
        extent: operands.some((word) => place.isWide(word)) ? 'wide' : 'named',
      }
      return { facts: parsed.ok ? [fact] : [fact, unknown(parsed.reason)] }
    },
  }
}

/** Creates the row of a program that always counts as destroying large amounts of data, whatever its arguments are. */
function ruin(source: string, reason: string): Program {
  return { source, judge: () => ({ facts: [{ class: 'destructive', reason, extent: 'wide' }] }) }
}

/** Creates the row of a program that changes permissions or owners. Doing so for everything below a folder can't be undone. */
function rightsChanger(source: string): Program {
  const table = optionTable(
    '-c -f -h -v -R -H -L -P --recursive --changes --quiet --silent --verbose --no-dereference --preserve-root --reference<',
  )
  return {
    source,
    judge: (args, { place }) => {
      // A mode such as `-w` begins with a dash, but isn't an option, so it is left out here.
      const parsed = parseArguments(
        args.filter(({ text }) => !/^-[rwxXst]+$/.test(text)),
        table,
        { letters: 'getopt' },
      )
      if (!parsed.ok) return { facts: [unknown(parsed.reason)] }
      const targets = parsed.operands.length > 1 ? parsed.operands.slice(1) : parsed.operands
      const paths = targets.map(({ text }) => text)
      const recursive = parsed.options.some(({ name }) => name === '-R' || name === '--recursive')
      if (!recursive || !targets.some((word) => place.isWide(word))) return { facts: [{ class: 'writes', paths }] }
      const reason = `it changes the permissions or owners of everything below ${paths.join(' ')}`
      return { facts: [{ class: 'destructive', reason, extent: 'wide' }] }
    },
  }
}

/** Changes a program's row so that the command counts as read-only if it has no arguments. Without arguments, the program only lists something. */
function unlessAlone(row: Program): Program {
  return { ...row, judge: (args, context) => (args.length === 0 ? { facts: [readOnly] } : row.judge(args, context)) }
}

/** Programs with effects that may be impossible to undo. For example, `mv` destroys the file at its target, and `dd` the file that it overwrites. */
export const destroyers: ProgramTable = {
  chmod: rightsChanger('chmod(1)'),
  chown: rightsChanger('chown(1)'),
  chgrp: rightsChanger('chgrp(1)'),
  rm: destroyer(
    'rm(1)',
    '-d -f -i -I -r -R -v --dir --force --interactive? --recursive --verbose --one-file-system --preserve-root? --no-preserve-root',
    'deletes',
  ),
  rmdir: destroyer('rmdir(1)', '-p -v --parents --verbose --ignore-fail-on-non-empty', 'deletes'),
  unlink: destroyer('unlink(1)', '', 'deletes'),
  mv: writer(
    'mv(1)',
    '-b -f -i -n -t> -T -u -v --force --interactive --no-clobber --target-directory> --no-target-directory --update? --verbose --backup?',
    { reads: true, keeps: 'nothing' },
  ),
  dd: {
    source: 'dd(1)',
    judge: (args, { place }) => {
      const named = (name: string): readonly ShellWord[] =>
        args.flatMap((word) => (word.text.startsWith(name) ? [{ ...word, text: word.text.slice(name.length) }] : []))
      const read = judgeFiles(named('if='))
      const target = named('of=')[0]?.text
      if (target === undefined) return join([read, { facts: [unknown('dd copies the files that its operands name')] }])
      const device = place
        .locations(target)
        .some((location) => location === undefined || /^\/dev\/(?!null|stdout|stderr)/.test(location))
      return {
        ...read,
        facts: [
          ...read.facts,
          device
            ? { class: 'destructive', reason: `dd overwrites ${target}`, extent: 'wide' }
            : { class: 'writes', paths: [target] },
        ],
      }
    },
  },
  shred: ruin('shred(1)', 'shred destroys files beyond recovery'),
  mkfs: ruin('mkfs(8)', 'mkfs erases a file system'),
  wipefs: ruin('wipefs(8)', 'wipefs erases the file system signatures on a disk'),
  fdisk: ruin('fdisk(8)', 'fdisk changes partitions'),
  parted: ruin('parted(8)', 'parted changes partitions'),
  mount: unlessAlone(ruin('mount(8): without arguments, it only lists what is mounted', 'mount changes the file tree')),
  umount: ruin('umount(8)', 'umount changes the file tree'),
  shutdown: ruin('shutdown(8)', 'it stops the machine'),
  reboot: ruin('reboot(8)', 'it stops the machine'),
  halt: ruin('halt(8)', 'it stops the machine'),
  poweroff: ruin('poweroff(8)', 'it stops the machine'),
  kill: {
    source: 'kill(1)',
    judge: () => ({ facts: [{ class: 'destructive', reason: 'it ends processes', extent: 'named' }] }),
  },
  pkill: {
    source: 'pkill(1)',
    judge: () => ({ facts: [{ class: 'destructive', reason: 'it ends processes', extent: 'named' }] }),
  },
  killall: {
    source: 'killall(1)',
    judge: () => ({ facts: [{ class: 'destructive', reason: 'it ends processes', extent: 'named' }] }),
  },
}
