import process from 'node:process'

/** The ids of an ordinary user, which commands get if their caller is root, so that programs in the sandbox don't assume that they are root. */
const ordinary = { uid: 1000, gid: 1000 }

/** The user and group ids of commands in a sandbox made of namespaces. In such a sandbox, the caller's files have the same owner as the commands. */
export function shownOwner(): { readonly uid: number; readonly gid: number } {
  const uid = process.geteuid?.() ?? ordinary.uid
  return uid === 0 ? ordinary : { uid, gid: process.getegid?.() ?? ordinary.gid }
}
