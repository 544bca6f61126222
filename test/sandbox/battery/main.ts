/**
 * `node test/sandbox/battery/main.ts [BACKEND [view]]`: runs the battery as this user, in a private view or in the workspace itself, and prints the
 * outcomes as JSON.
 */
import process from 'node:process'
import type { Backend } from '../../../sandbox/index.ts'
import { runBattery } from './run-battery.ts'

const backend = (process.argv[2] ?? 'bubblewrap') as Backend
process.stdout.write(JSON.stringify(await runBattery(backend, process.argv[3] === 'view')))
