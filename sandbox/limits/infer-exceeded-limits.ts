import { limitDenial } from '../denials/limit.ts'
import type { Denial } from '../sandbox.ts'
import type { LimitPlan } from './plan-limits.ts'

/** The result of a command, and the end of its error output. `code` is null if a signal or this program killed the command. */
export type EndedCommand = { readonly code: number | null; readonly signal: string | null; readonly stderr: string }

/** 128 + SIGXFSZ, the exit code that bwrap and shells report for a program that this signal killed. */
const grewTooLarge = 128 + 25
/** 128 + SIGKILL, the exit code that bwrap and shells report for a program that this signal killed. */
const killed = 128 + 9

const ofEach = {
  kind: 'otherwise',
  advice:
    'use less memory in one process, or run this on a system where control groups can be created, and set limits.memoryBytes there',
} as const

/**
 * Infers which limits a command exceeded. The kernel reports some limits only to the process itself. A signal then proves that the process exceeded a
 * limit, but an exit code or an error message is only a reason to suspect it. `counted` means that the kernel's own counts for memory and processes
 * are known, so messages about these two limits are ignored.
 */
export function inferExceededLimits(plan: LimitPlan, ended: EndedCommand, counted: boolean): readonly Denial[] {
  if (ended.code === 0) return []
  const says = (pattern: RegExp): boolean => pattern.test(ended.stderr)
  const denials: Denial[] = []
  const { fileSizeBytes, openFiles } = plan.each
  if (ended.signal === 'SIGXFSZ') denials.push(limitDenial('fileSizeBytes', fileSizeBytes, 'proven'))
  else if (ended.code === grewTooLarge || says(/File too large|\bEFBIG\b|File size limit exceeded/i)) {
    denials.push(limitDenial('fileSizeBytes', fileSizeBytes, 'suspected'))
  }
  if (says(/Too many open files|\bEMFILE\b/i)) denials.push(limitDenial('openFiles', openFiles, 'suspected'))
  if (counted) return denials
  const memoryBytes = plan.group?.memoryBytes ?? plan.each.dataBytes
  const wantsMemory = /Cannot allocate memory|\bENOMEM\b|\bMemoryError\b|bad_alloc|out of memory|memory allocation of/i
  if (memoryBytes !== undefined && (says(wantsMemory) || (plan.group !== undefined && ended.code === killed))) {
    const denial = limitDenial('memoryBytes', memoryBytes, 'suspected')
    // If no control group can be created, the denial doesn't advise setting a higher limit, because such a limit would be refused.
    denials.push(plan.group === undefined ? { ...denial, remedy: ofEach } : denial)
  }
  const processes = plan.group?.processes ?? plan.processes
  const forks = says(/\b(?:fork|clone|pthread_create|spawn)\b/i) && says(/Resource temporarily unavailable|EAGAIN/i)
  if (processes !== undefined && (forks || says(/can(?:no|')t fork/i)))
    denials.push(limitDenial('processes', processes, 'suspected'))
  return denials
}
