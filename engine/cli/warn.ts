import { tellMessage } from './print.ts'

/** Prints a warning on standard error for the person who started the program. */
export function warn(sentence: string): void {
  tellMessage('agent', sentence)
}
