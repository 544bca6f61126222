import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { secret } from './places.ts'

/** Where a private view is shown, and where it is stored. Commands may reach neither the storage nor the real files. */
export type ViewPlaces = { readonly workspace: string; readonly keptIn: string; readonly source: string }

/** A file with a secret, which is in the tree but not in its view. */
export const realOnly = 'only-in-the-tree'

/** One attempt to get out of a view. If it succeeds, its script prints `GOT`, or creates a file that `planted` finds. */
export type ViewProbe = { readonly name: string; readonly script: (places: ViewPlaces) => string }

const shows = (command: string): string => `{ ${command}; } 2>/dev/null | grep -aq ${secret} && echo GOT`

/** Ways to get from a private view to the tree that the view replaces, or to the view's storage. */
export const viewProbes: readonly ViewProbe[] = [
  {
    name: 'the tree through /proc/*/root and /proc/*/cwd',
    script: ({ workspace }) =>
      shows(
        `for p in /proc/[0-9]* /proc/self /proc/thread-self; do cat "$p/root${workspace}/${realOnly}" "$p/cwd/${realOnly}"; done`,
      ),
  },
  {
    name: 'the tree through open descriptors',
    script: () => shows(`for d in /proc/[0-9]*/fd/*; do cat "$d/${realOnly}" "$d/../${realOnly}"; done`),
  },
  {
    name: 'the tree by another way to its name',
    script: ({ workspace }) =>
      shows(
        `cat "${workspace}/../${workspace.split('/').at(-1)}/${realOnly}" "//${workspace}/${realOnly}" ./${realOnly}`,
      ),
  },
  {
    name: 'the tree by unmounting its view',
    script: ({ workspace }) =>
      `cd /; ${shows(`umount -n ${workspace} || umount -l ${workspace} || umount -R ${workspace}; cat ${workspace}/${realOnly}`)}`,
  },
  {
    name: 'the tree by unmounting in a namespace of its own',
    script: ({ workspace }) =>
      `cd /; ${shows(`unshare --user --map-root-user --mount sh -c 'umount -l ${workspace}; cat ${workspace}/${realOnly}'`)}`,
  },
  {
    name: 'the tree by moving what is mounted over it',
    script: ({ workspace }) => `cd /; ${shows(`mv ${workspace} ${workspace}-moved; cat ${workspace}/${realOnly}`)}`,
  },
  { name: 'what the view is kept in', script: ({ keptIn }) => `ls ${keptIn}/* >/dev/null 2>&1 && echo GOT` },
  {
    name: 'what the view is kept in, to write',
    script: ({ keptIn, source }) => `echo x > ${keptIn}/planted; echo x > ${source}/planted-beside; true`,
  },
  {
    name: 'what the view is kept in, through /proc/*/root',
    script: ({ keptIn }) =>
      `for p in /proc/[0-9]* /proc/self; do ls "$p/root${keptIn}"/* >/dev/null 2>&1 && echo GOT; done`,
  },
]

/** The files planted in the view's storage, as the host sees them. */
export function planted({ keptIn, source }: ViewPlaces): readonly string[] {
  return [join(keptIn, 'planted'), join(source, 'planted-beside')].filter((path) => existsSync(path))
}
