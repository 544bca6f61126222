import type { Item } from '../core/events.ts'

/** Says of a command whose end isn't known whether it had started, so that nobody takes it for one that never ran. */
export function withStart(item: Item, hasBegun: boolean): Item {
  if (item.type !== 'command_execution' && item.type !== 'verification') return item
  const isUnknown = item.status === 'failed' && item.exit_code === null && item.ended_by === undefined
  return isUnknown ? { ...item, started: item.started ?? hasBegun } : item
}
