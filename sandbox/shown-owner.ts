import process from 'node:process'

/** An ordinary id for commands when the caller is root, so that no program inside assumes that it is root. */
const ordinary = { uid: 1000, gid: 1000 }

/** Who commands are in a sandbox of namespaces, and who owns the caller's files there. */
export function shownOwner(): { readonly uid: number; readonly gid: number } {
  const uid = process.geteuid?.() ?? ordinary.uid
  return uid === 0 ? ordinary : { uid, gid: process.getegid?.() ?? ordinary.gid }
}
